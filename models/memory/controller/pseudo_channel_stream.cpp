// SPDX-License-Identifier: Apache-2.0
// The fast path of PseudoChannel: a stream of consecutive bursts takes the data bus at its full rate, in
// order, while the rows of the next page are opened beside it. Columns cost little here, only rows do. While
// it is open, all that waits in its direction is at the door, as ranges: a burst is in the window, so to
// speak, once there are less than `depth` before it. What waits in the other direction does so until the bus
// would turn. It changes no command (tests/unit/memory/channel_twin.cpp).
#include <algorithm>

#include "models/memory/controller/pseudo_channel.h"

namespace systole {

bool PseudoChannel::can_stream(Cycles due) const {
    const Direction direction = active_, idle = opposite(direction);
    const auto side = static_cast<std::size_t>(direction);
    if (!column_known_ || streak_[side] < kWorthIt || column_.when < no_stream_before_) return false;
    const Cycles cadence = of(ccd_, direction);
    if (column_.when > due - cadence * kWorthIt) return false;
    if (shared_queue_ || page_ != PagePolicy::Open || capped_ != 0 || urgent_ || refresh_.pending())
        return false;
    if (change_ != Cycles::max() || bound(idle) != 0) return false;
    // What waits in the other direction stays where it is until it is its turn, or urgent.
    if (window_.size(idle) > 0 && patience_ - passed_ <= kWorthIt) return false;
    // Consecutive bursts must rotate over the bank groups, so that each may follow the one before at once.
    if (cadence != burst_ || !map_.groups_lowest() || map_.column_stride() < groups_) return false;
    if (cadence * groups_ < of(ccd_long_, direction)) return false;
    // The window must hold one unbroken range, of which the first burst is next.
    const std::int64_t size = window_.size(direction);
    if (size == 0 || column_.sequence != window_.oldest(direction).sequence) return false;
    if (last_local_[side] - window_.oldest(direction).local + 1 != size || streak_[side] < size) return false;
    const Reach reach = reach_of_stream();
    return std::min(reach.columns, reach.bursts - left_by_stream(window_.size(idle) > 0)) > kWorthIt &&
           first_rows_are_ready();
}

/// The rows of the first rotation are open in time: after a refresh they come one by one, and a stream would
/// not last.
bool PseudoChannel::first_rows_are_ready() const {
    const std::int64_t first = window_.oldest(active_).local;
    const Command command = active_ == Direction::Read ? Command::Read : Command::Write;
    Cycles clock = column_.when;
    for (std::int64_t i = 0; i < map_.column_stride(); ++i, clock += of(ccd_, active_)) {
        const RowRun place = map_.locate(first + i);
        if (window_.open_row(place.bank) != place.row || timing_.local(command, place.bank) > clock)
            return false;
    }
    return true;
}

/// With so few bursts left the bus turns, or a refresh that is owed begins; `opposed`: others wait in the
/// other direction.
std::int64_t PseudoChannel::left_by_stream(bool opposed) const {
    if (active_ == Direction::Write) return opposed ? write_floor_ + 1 : 1;
    return opposed || refresh_.owes() ? 1 : 0;
}

/// How many bursts of the window and behind it continue each other; and how many of them the stream can give:
/// it must end before others, that do not continue them, enter the window, and leaves the last to the common
/// way.
PseudoChannel::Reach PseudoChannel::reach_of_stream() const {
    const std::int64_t visible = window_.size(active_);
    std::int64_t bursts = visible, next = last_local_[static_cast<std::size_t>(active_)] + 1;
    const Fifo<Range>& ranges = door(active_).ranges;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (ranges[i].first != next) return {bursts, bursts - visible};
        bursts += ranges[i].left;
        next += ranges[i].left;
    }
    return {bursts, bursts - 1};
}

Command PseudoChannel::stream_command() const {
    return stream_.direction == Direction::Read ? Command::Read : Command::Write;
}

bool PseudoChannel::streams_beside(const PseudoChannel& other) const {
    const Cycles cadence = of(ccd_, active_), apart = column_.when - other.column_.when;
    return cadence == of(other.ccd_, other.active_) && apart != Cycles() && apart < cadence &&
           other.column_.when - column_.when < cadence;
}

void PseudoChannel::begin_stream(Cycles now, Cycles due) {
    const Direction direction = active_;
    Stream& stream = stream_;
    const Reach reach = reach_of_stream();
    stream.direction = direction;
    stream.local = window_.oldest(direction).local;
    stream.bursts = reach.bursts;
    stream.begin = column_.when;
    stream.seen_since = now;
    stream.cadence = of(ccd_, direction);
    Door& door = doors_[static_cast<std::size_t>(direction)];
    const std::int64_t visible = window_.size(direction);
    stream.continued = visible + door.bursts > reach.bursts;
    stream.limit = stream.continued ? std::min(due, stream.clock(reach.columns)) : due;
    stream.window.clear();
    window_.for_each(direction, [&](const Window::Burst& burst) {
        stream.window.push_back(burst);
        return true;
    });
    for (std::size_t i = stream.window.size(); i-- > 0;) put_back(door.ranges, stream.window[i]);
    door.bursts += visible;
    for (std::int64_t i = 0; i < visible; ++i) entries_->give(direction);
    window_.clear(direction);
    forget_choices();
    stream.start(map_, bursts_per_row_);
    if (window_.size(opposite(direction)) > 0) limit_patience();
    look_for_run();
}

/// Those of one request that entered together are one range.
void PseudoChannel::put_back(Fifo<Range>& ranges, const Window::Burst& burst) {
    if (!ranges.empty()) {
        Range& front = ranges.front();
        if (front.request == burst.request && front.arrived == burst.entered) {
            --front.first, --front.sequence, ++front.left;
            return;
        }
    }
    ranges.push_front({burst.local, 1, burst.sequence, burst.entered, burst.request});
}

Cycles PseudoChannel::book_begin(Cycles limit) {
    if (stream_.booked) return Cycles::max();
    if (stream_.begin >= limit) return stream_.begin;
    stream_.booked = true;
    book_before(column_, door(stream_.direction).ranges.front().arrived);
    return Cycles::max();
}

bool PseudoChannel::join_stream(std::int64_t request, std::int64_t first, std::int64_t count,
                                Direction direction, std::int64_t sequence, const CommandBus& bus,
                                Cycles now) {
    Stream& stream = stream_;
    if (!stream.open) return false;
    if (direction != stream.direction) {
        if (!bears(count, direction)) return false;
        const bool first_to_wait = window_.size(direction) == 0;
        queue_up(request, first, count, direction, sequence, now);
        admit(direction, bus, now);
        if (first_to_wait) limit_patience();
        return true;
    }
    const bool continues = !stream.continued && first == stream.local + stream.bursts;
    const std::int64_t depth = entries_->depth();
    if (!continues && stream.bursts - stream.given < depth) return false;
    queue_up(request, first, count, direction, sequence, now);
    if (continues) {
        const bool had_run = stream.has_run();
        const std::int64_t before = stream.bursts;
        stream.bursts += count;
        if (!had_run && stream.has_run()) look_out(sequence + stream.run.first - before, now);
    } else if (!stream.continued) {
        stream.continued = true;
        stream.limit = std::min(stream.limit, stream.clock(stream.bursts - depth));
    }
    return true;
}

/// Whether the stream goes on when so many more bursts of the other direction wait: the bus does not turn.
bool PseudoChannel::bears(std::int64_t count, Direction idle) const {
    const std::int64_t entering = std::min<std::int64_t>(count, entries_->free(idle));
    if (idle == Direction::Write && entering > 0 && entries_->used(idle) + entering >= policy_.high)
        return false;
    return window_.size(idle) > 0 ||
           (stream_.bursts - stream_.given >= left_by_stream(true) && passed_ < patience_);
}

/// It ends before it has passed others so often that they are urgent.
void PseudoChannel::limit_patience() {
    stream_.limit = std::min(stream_.limit, stream_.clock(stream_.given + patience_ - 1 - passed_));
}

Cycles PseudoChannel::stream_limit() const {
    const bool opposed = window_.size(opposite(stream_.direction)) > 0;
    const Cycles limit = std::min(stream_.limit, stream_.clock(stream_.bursts - left_by_stream(opposed)));
    return stream_.jobs.empty() ? limit : std::min(limit, stream_.clock(stream_.jobs.front().run.first));
}

/// The scheduler sees a burst from this clock on: an entry freed at one clock is filled at the next.
Cycles PseudoChannel::entry_in_stream(std::int64_t position, Cycles arrived) const {
    const std::int64_t freeing = position - entries_->depth();
    return freeing < 0 ? arrived : std::max(arrived, stream_.clock(freeing) + Cycles(1));
}

GivenCommand PseudoChannel::tell_column() {
    const RowRun place = map_.locate(stream_.local + stream_.told);
    return {stream_command(), number_, place.bank, place.row, stream_.clock(stream_.told++)};
}

void PseudoChannel::serve_stream(Cycles until) {
    Stream& stream = stream_;
    if (stream.next >= until) return;
    const Cycles span = until - stream.next;
    const std::int64_t count = span <= stream.cadence ? 1 : ceil_div(span.value(), stream.cadence.value());
    Door& door = doors_[static_cast<std::size_t>(stream.direction)];
    Cycles data = stream.next + of(latency_, stream.direction) - stream.cadence;  // of the last served
    const std::int64_t passing = window_.oldest_sequence(opposite(stream.direction));
    for (std::int64_t left = count; left > 0;) {
        Range& range = door.ranges.front();
        const std::int64_t served = std::min(left, range.left);
        data += stream.cadence * served;
        passed_ = range.sequence > passing ? passed_ + served : 0;
        book_.serve(range.request, served, stream.direction, data);
        left -= served;
        range.first += served, range.sequence += served, range.left -= served;
        if (range.left == 0) door.ranges.pop();
    }
    door.bursts -= count;
    stream.given += count;
    stream.next += stream.cadence * count;
    stream.told = stream.given;
    ledger_.book(BusTime::Transfer, data);
    (stream.direction == Direction::Read ? stats_.read_bursts : stats_.write_bursts) += count;
    stats_.bus_busy += burst_ * count;
}

void PseudoChannel::end_stream(Cycles limit) {
    Stream& stream = stream_;
    stream.open = false;
    if (stream.given < kWorthIt) no_stream_before_ = limit + stream.cadence * (2 * kWorthIt);
    for (std::size_t bank = 0; bank < stream.lanes.size(); ++bank)
        issue_lane(static_cast<int>(bank), stream.given);
    const auto side = static_cast<std::size_t>(stream.direction);
    const std::int64_t last_local = refill(limit);
    streak_[side] += last_local - last_local_[side];
    last_local_[side] = last_local;
    oldest_ = std::min(window_.oldest_sequence(Direction::Read), window_.oldest_sequence(Direction::Write));
    if (doors_[side].bursts > 0 && entries_->free(stream.direction) > 0) change_ = limit;
    forget_choices();
}

/// The window again holds single bursts: what has entered and was not served. Answers the local number of the
/// last that has entered.
std::int64_t PseudoChannel::refill(Cycles limit) {
    const Stream& stream = stream_;
    Door& door = doors_[static_cast<std::size_t>(stream.direction)];
    std::int64_t position = stream.given;
    for (; position < stream.bursts; ++position) {
        Range& range = door.ranges.front();
        const Cycles entered = entry_in_stream(position, range.arrived);
        if (entered >= limit) break;
        const RowRun place = map_.locate(range.first);
        window_.enter(stream.direction, {range.sequence, place.row, range.first, entered, range.request,
                                         static_cast<std::int16_t>(place.bank)});
        entries_->take(stream.direction);
        ++range.first, ++range.sequence, --range.left, --door.bursts;
        if (range.left == 0) door.ranges.pop();
    }
    return stream.local + position - 1;
}

Cycles PseudoChannel::room_in_stream(Direction direction) const {
    if (direction != stream_.direction) return Cycles::max();
    const std::int64_t columns = door(direction).bursts - entries_->depth() + 1;
    return stream_.clock(stream_.given + columns - 1) + Cycles(1);
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
