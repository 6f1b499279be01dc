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
    keeper_->enter(rank, std::move(turn));
    keeper_->wake_.notify(sc_core::SC_ZERO_TIME);
}

void Turns::enter(const Rank& rank, std::function<void()> turn) {
    if (free_.empty()) {
        free_.push_back(turns_.size());
        turns_.emplace_back();
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    turns_[slot] = std::move(turn);
    asked_.push_back({rank, order_++, slot});
    std::push_heap(asked_.begin(), asked_.end());
}

void Turns::serve() {
    // Who would be next in a delta cycle of its own, in which nothing else happens, goes at once.
    while (!asked_.empty() && !sc_core::sc_pending_activity_at_current_time()) {
        std::pop_heap(asked_.begin(), asked_.end());
        const std::size_t slot = asked_.back().turn;
        asked_.pop_back();
        free_.push_back(slot);
        const std::function<void()> turn = std::move(turns_[slot]);
        turn();
    }
    if (!asked_.empty()) wake_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace systole
