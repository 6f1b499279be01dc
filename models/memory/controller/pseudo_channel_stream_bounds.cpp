// SPDX-License-Identifier: Apache-2.0
// What is known of a stream in advance, while nothing else arrives: when there is room for another burst, and
// the least clocks at which a request is complete or leaves its door.
#include <algorithm>

#include "models/memory/controller/pseudo_channel.h"

namespace systole {

Cycles PseudoChannel::room_in_stream(Direction direction) const {
    if (direction != stream_.direction) return Cycles::max();
    const std::int64_t columns = door(direction).bursts - entries_->depth() + 1;
    return stream_.clock(stream_.given + columns - 1) + Cycles(1);
}

/// From when on an entry is free, or all its own bursts are in the window, so that one more can wait.
Cycles PseudoChannel::room_in_shared_stream(Direction direction) const {
    const Door& waiting = door(direction);
    if (waiting.bursts == 0) return Cycles();
    const std::int64_t excess = entries_->bursts() - entries_->depth();
    if (excess < 0) return Cycles();
    const WaitingRange& youngest = waiting.ranges.back();
    const Cycles entry = entries_->entry(youngest.end_rank - 1, youngest.arrived);
    return std::min(entries_->column(excess), entry) + Cycles(1);
}

Cycles PseudoChannel::door_in_shared_stream(Direction direction, Cycles fixed) const {
    const Fifo<WaitingRange>& ranges = door(direction).ranges;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const Cycles entry = entries_->entry(ranges[i].end_rank - 1, ranges[i].arrived);
        if (entry > fixed) return entry;
    }
    return Cycles::max();
}

std::int64_t PseudoChannel::entered_in_shared_stream(Direction direction, Cycles fixed) const {
    const Fifo<WaitingRange>& ranges = door(direction).ranges;
    std::int64_t entered = 0;
    for (std::size_t i = 0; i < ranges.size(); entered += ranges[i++].left) {
        if (entries_->entry(ranges[i].end_rank - 1, ranges[i].arrived) <= fixed) continue;
        for (std::int64_t n = 0; entries_->entry(ranges[i].rank() + n, ranges[i].arrived) <= fixed; ++n)
            ++entered;
        break;
    }
    return entered;
}

/// No column of the other direction is given before: the stream may end with a row that is not yet in sight.
Cycles PseudoChannel::turn_in_stream() const {
    const Cycles limit = stream_limit();
    return stream_.has_run() ? std::min(limit, stream_.clock(stream_.run.first)) : limit;
}

/// Others may overtake the first request yet, should rows come too late.
Cycles PseudoChannel::completion_in_stream() const {
    Cycles bound = book_.first_end();
    const Direction direction = stream_.direction, idle = opposite(direction);
    if (window_.size(idle) > 0) {
        const Cycles rest = of(ccd_, idle) * (columns_to_completion(idle) - 1);
        bound = std::min(bound, turn_in_stream() + rest + of(latency_, idle));
    }
    const Door& waiting = door(direction);
    if (waiting.bursts == 0) return bound;
    const bool soon = book_.left(waiting.ranges.front().request) == 1;
    const std::int64_t columns = soon ? 1 : columns_to_completion(direction);
    return std::min(bound, stream_.clock(stream_.given + columns - 1) + of(latency_, direction));
}

Cycles PseudoChannel::door_in_stream(Direction direction) const {
    const std::int64_t missing = missing_entries(direction, entries_->free(direction));
    if (missing <= 0) return Cycles::max();
    if (direction != stream_.direction) return turn_in_stream() + Cycles(missing);
    return stream_.clock(stream_.given + missing - 1) + Cycles(1);
}

}  // namespace systole
