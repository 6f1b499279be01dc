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
    std::swap(asked_, served_);
    std::stable_sort(served_.begin(), served_.end(),
                     [](const Asked& a, const Asked& b) { return a.rank < b.rank; });
    for (const Asked& next : served_) next.turn();
    served_.clear();
}

}  // namespace systole
