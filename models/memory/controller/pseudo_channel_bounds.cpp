// SPDX-License-Identifier: Apache-2.0
// What a pseudo-channel can do at the earliest, as things stand: its next column, the first request that is
// complete, the first that leaves its door.
#include <algorithm>

#include "models/memory/controller/pseudo_channel.h"

namespace systole {

/// No column is given before this clock.
Cycles PseudoChannel::column_bound(const CommandBus& bus, Cycles now) const {
    // After a row command a column needs its ACT still, unless the bus can turn to rows that are open.
    const bool turning = urgent_ || (active_ == Direction::Write && last_write_ != Window::kNone);
    const Cycles activation = turning ? Cycles(1) : std::min(activation_[0], activation_[1]);
    const Cycles any = std::min(timing_.anywhere(Command::Read), timing_.anywhere(Command::Write));
    Cycles bound = change_ == Cycles::max() ? change_ : std::max({change_, now, any});
    if (refresh_.pending()) {
        const Cycles refreshed = next_refresh(bus, now).when + activation;
        if (blocked()) return std::max(refreshed, any);
        bound = std::min(bound, refreshed);
    }
    if (bound <= std::max(now, any)) return std::max(bound, now);  // nothing is earlier
    // Where the choice is known, and a column, no other comes before, and none after a row.
    if (next_known_ && next_->kind == Choice::Kind::Column && next_->when >= bus.free(next_->command))
        return std::max(std::min(bound, next_->when), now);
    Choice column;
    find_column(bus, now, column);
    const Choice row = search_row(bus, now);
    if (row.when != Cycles::max()) bound = std::min(bound, row.when + activation);
    return std::max(std::min(bound, column.when), now);
}

Cycles PseudoChannel::completion_bound(const CommandBus& bus, Cycles now, Cycles freed) const {
    Cycles bound = book_.first_end();
    if (waiting() == 0) return bound;
    // No column is earlier than `now`: what is known to end before one could have moved its data comes first.
    if (bound <= std::min(now, freed) + std::min(latency_[0], latency_[1])) return bound;
    Cycles column = column_bound(bus, now);
    if (in_windows() < waiting()) column = std::min(column, freed);
    for (const Direction direction : {Direction::Read, Direction::Write}) {
        if (window_.size(direction) == 0 && door(direction).bursts == 0) continue;
        const Cycles rest = of(ccd_, direction) * (columns_to_completion(direction) - 1);
        bound = std::min(bound, column + rest + of(latency_, direction));
    }
    return bound;
}

/// The fewest bursts that a request still waits for which has some in the window.
std::int64_t PseudoChannel::least_left(Direction direction) const {
    const Fifo<WaitingRange>& ranges = door(direction).ranges;
    if (ranges.empty()) return book_.least_left(direction, RequestBook::kNobody);
    const WaitingRange& first = ranges.front();
    const std::int64_t least = book_.least_left(direction, first.request), left = book_.left(first.request);
    return left > first.left ? std::min(least, left) : least;  // a part of it has entered
}

/// At least so many columns are given until some request of the direction is complete.
std::int64_t PseudoChannel::columns_to_completion(Direction direction) const {
    std::int64_t least = least_left(direction);
    // Others may hold entries of a shared queue; its own bursts never more than there are.
    const std::int64_t free = window_.depth() - window_.size(direction);
    std::int64_t before = 0;  // bursts at the door that enter earlier
    const Fifo<WaitingRange>& ranges = door(direction).ranges;
    for (std::size_t i = 0; i < ranges.size() && before - free < least; ++i) {
        before += ranges[i].left;
        least = std::min(least, std::max(book_.left(ranges[i].request), before - free));
    }
    return least;
}

std::int64_t PseudoChannel::at_door(Direction direction, std::int64_t free) const {
    const Fifo<WaitingRange>& ranges = door(direction).ranges;
    std::size_t entering = 0;  // wholly, into entries that are free
    for (; entering < ranges.size() && ranges[entering].left <= free; ++entering)
        free -= ranges[entering].left;
    return static_cast<std::int64_t>(ranges.size() - entering);
}

std::int64_t PseudoChannel::missing_entries(Direction direction, std::int64_t free) const {
    const Fifo<WaitingRange>& ranges = door(direction).ranges;
    std::int64_t missing = -free;
    for (std::size_t i = 0; i < ranges.size() && missing <= 0; ++i) missing += ranges[i].left;
    return missing;
}

Cycles PseudoChannel::door_bound(Direction direction, const CommandBus& bus, Cycles now) const {
    const std::int64_t missing = missing_entries(direction, entries_->free(direction));
    if (missing <= 0) return Cycles::max();
    return column_bound(bus, now) + of(ccd_, direction) * (missing - 1) + Cycles(1);
}

std::int64_t PseudoChannel::sequence_at_door(Direction direction, std::int64_t before) const {
    const Fifo<WaitingRange>& ranges = door(direction).ranges;
    for (std::size_t i = 0; i < ranges.size(); before -= ranges[i++].left)
        if (before < ranges[i].left) return ranges[i].sequence() + before;
    return Window::kNone;
}

}  // namespace systole
