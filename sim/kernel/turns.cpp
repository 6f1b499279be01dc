// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/turns.h"

#include <algorithm>
#include <utility>

namespace systole {
namespace {

/// The first in the hierarchy below and among `objects`, or null.
Turns* first_of(const std::vector<sc_core::sc_object*>& objects) {
    for (sc_core::sc_object* object : objects) {
        if (auto* turns = dynamic_cast<Turns*>(object)) return turns;
        if (Turns* turns = first_of(object->get_child_objects())) return turns;
    }
    return nullptr;
}

}  // namespace

Turns::Turns(sc_core::sc_module_name name) : sc_module(name) {
    SC_HAS_PROCESS(Turns);
    SC_METHOD(serve);
    sensitive << wake_;
    dont_initialize();
}

void Turns::end_of_elaboration() {
    keeper_ = first_of(sc_core::sc_get_top_level_objects());
}

void Turns::ask(const Rank& rank, std::function<void()> turn) {
    keeper_->asked_.push_back({rank, std::move(turn)});
    keeper_->wake_.notify(sc_core::SC_ZERO_TIME);
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
