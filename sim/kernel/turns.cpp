// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/turns.h"

#include <algorithm>
#include <utility>

namespace systole {

Turns::Turns(sc_core::sc_module_name name) : sc_module(name) {
    SC_HAS_PROCESS(Turns);
    SC_METHOD(serve);
    sensitive << wake_;
    dont_initialize();
}

void Turns::ask(const Rank& rank, std::function<void()> turn) {
    asked_.push_back({rank, std::move(turn)});
    wake_.notify(sc_core::SC_ZERO_TIME);
}

void Turns::serve() {
    if (!sc_core::sc_pending_activity_at_current_time()) {
        const auto next = std::min_element(asked_.begin(), asked_.end(),
                                           [](const Asked& a, const Asked& b) { return a.rank < b.rank; });
        const auto turn = std::move(next->turn);
        asked_.erase(next);
        turn();
    }
    if (!asked_.empty()) wake_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace systole
