// SPDX-License-Identifier: Apache-2.0
// The fast path of PseudoChannel: a stream of consecutive bursts takes the data bus at its full rate, in
// order, while the rows of the next page are opened beside it. Columns cost little here, only rows do. While
// it is open, all that waits in its direction is at the door, as ranges: a burst is in the window, so to
// speak, once there are less than `depth` before it. What waits in the other direction does so until the bus
// would turn. It changes no command (tests/unit/memory/channel_twin.cpp).
#include <algorithm>

#include "models/memory/controller/pseudo_channel.h"

namespace systole {

bool PseudoChannel::can_stream(Cycles due, const CommandBus& bus, Cycles now) {
    const Direction direction = active_, idle = opposite(direction);
    const auto side = static_cast<std::size_t>(direction);
    if (!in_order_ || streak_[side] < kWorthIt || capped_ != 0) return false;
    if (urgent_ || refresh_.pending() || change_ != Cycles::max() || bound(idle) != 0) return false;
    if (next_known_ && next_->kind == Choice::Kind::Column)
        column_ = *next_;
    else
        find_column(bus, now, column_);
    const Cycles cadence = of(ccd_, direction);
    if (column_.when < no_stream_before_ || column_.when > due - cadence * kWorthIt) return false;
    // What waits in the other direction stays where it is until it is its turn, or urgent.
    if (window_.size(idle) > 0 && patience_ - passed_ <= kWorthIt) return false;
    // The bursts rotate over the bank groups, so that each may follow the one before at once.
    if (cadence != burst_ || cadence * groups_ < of(ccd_long_, direction)) return false;
    // The window must hold one unbroken range, of which the first burst is next. That its numbers fit is not
    // enough: a place that is read twice may stand in for one that was served out of turn.
    const std::int64_t size = window_.size(direction);
    if (size == 0 || column_.sequence != window_.oldest(direction).sequence) return false;
    const Window::Burst& oldest = window_.oldest(direction);
    if (oldest.sequence < streak_begin_[side] || last_local_[side] - oldest.local + 1 != size) return false;
    const Reach reach = reach_of_stream();
    // Entries that are shared must be given back in an order that is known.
    if (shared_queue_ && (window_.size(idle) > 0 || reach.bursts < waiting())) return false;
    return std::min(reach.columns, reach.bursts - left_by_stream(window_.size(idle) > 0)) > kWorthIt &&
           first_rows_are_ready();
}

/// The rows of the first rotation are open in time: after a refresh they come one by one, and a stream would
/// not last.
bool PseudoChannel::first_rows_are_ready() const {
    const std::int64_t first = window_.oldest(active_).local;
    const Command command = active_ == Direction::Read ? Command::Read : Command::Write;
    Cycles clock = column_.when;
    Stream::Page page = stream_.page_of(map_, first);
    for (std::int64_t burst = first; burst < first + stream_.stride(); ++burst, clock += of(ccd_, active_)) {
        if (burst == page.end) page = stream_.page_of(map_, burst);
        const int bank = stream_.bank_in(page, burst);
        if (window_.open_row(bank) != page.row || timing_.local(command, bank) > clock) return false;
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
    const Fifo<WaitingRange>& ranges = door(active_).ranges;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (ranges[i].first() != next) return {bursts, bursts - visible};
        bursts += ranges[i].left;
        next += ranges[i].left;
    }
    return {bursts, bursts - 1};
}

Command PseudoChannel::stream_command() const {
    return stream_.direction == Direction::Read ? Command::Read : Command::Write;
}

bool PseudoChannel::streams_beside(const PseudoChannel& other) const {
    if (shared_queue_ && active_ != other.active_) return false;
    const Cycles cadence = of(ccd_, active_), apart = column_.when - other.column_.when;
    return cadence == of(other.ccd_, other.active_) && apart != Cycles() && apart < cadence &&
           other.column_.when - column_.when < cadence;
}

void PseudoChannel::begin_stream(Cycles now, Cycles due, bool first) {
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
    stream.entered.resize(static_cast<std::size_t>(visible));
    auto entered = stream.entered.rbegin();
    window_.clear(direction, [&](const Window::Burst& burst) {
        *entered++ = burst.entered;
        put_back(door, burst);
    });
    entries_->give(direction, static_cast<int>(visible));
    forget_choices();
    stream.start(map_);
    if (first)
        entries_->begin_stream(stream.begin, stream.cadence);
    else
        entries_->add_stream(stream.begin);
    if (window_.size(opposite(direction)) > 0) limit_patience();
}

std::int64_t PseudoChannel::next_to_rank() const {
    const Fifo<WaitingRange>& ranges = door(stream_.direction).ranges;
    return stream_.ranked < ranges.size() ? ranges[stream_.ranked].sequence() : Window::kNone;
}

void PseudoChannel::rank_next() {
    WaitingRange& range = doors_[static_cast<std::size_t>(stream_.direction)].ranges[stream_.ranked++];
    range.end_rank = entries_->rank(range.left) + range.left;
}

void PseudoChannel::plan_stream() {
    if (shared_queue_) {
        const Fifo<WaitingRange>& ranges = door(stream_.direction).ranges;
        std::int64_t position = 0;
        for (std::size_t i = 0; i < ranges.size(); position += ranges[i++].left)
            limit_entry(position, ranges[i].rank());
    }
    look_for_run();
    find_limit();
}

/// The stream ends before others hold so many entries that nothing of it is in the window.
void PseudoChannel::limit_entry(std::int64_t position, std::int64_t rank) {
    const std::int64_t freeing = rank - entries_->depth();
    const Cycles before = stream_.clock(position - 1);
    if (freeing >= 0 && entries_->column(freeing) > before) stream_.limit = std::min(stream_.limit, before);
}

/// Those of one request are one range; when they entered is kept elsewhere.
void PseudoChannel::put_back(Door& door, const Window::Burst& burst) {
    ++door.bursts;
    if (door.bursts > 1 && door.ranges.front().request == burst.request) {
        ++door.ranges.front().left;
        return;
    }
    door.ranges.push_front({1, burst.local + 1, burst.sequence + 1, 0, burst.entered, burst.request});
}

Cycles PseudoChannel::book_begin(Cycles limit) {
    if (stream_.booked) return Cycles::max();
    if (stream_.begin >= limit) return stream_.begin;
    stream_.booked = true;
    book_before(column_, stream_.entered.front());
    return Cycles::max();
}

bool PseudoChannel::join_stream(std::int64_t request, std::int64_t first, std::int64_t count,
                                Direction direction, std::int64_t sequence, Cycles now) {
    Stream& stream = stream_;
    if (!stream.open) return false;
    if (direction != stream.direction) {
        if (shared_queue_ || !bears(count, direction)) return false;
        const bool first_to_wait = window_.size(direction) == 0;
        queue_up(request, first, count, direction, sequence, 0, now);
        admit(direction, now);
        if (first_to_wait) limit_patience();
        find_limit();
        return true;
    }
    const bool continues = !stream.continued && first == stream.local + stream.bursts;
    const std::int64_t depth = entries_->depth();
    if (!continues && (shared_queue_ || stream.bursts - stream.given < depth)) return false;
    const std::int64_t rank = entries_->rank(count);
    queue_up(request, first, count, direction, sequence, rank, now);
    doors_[static_cast<std::size_t>(direction)].last = now;
    if (continues) {
        const bool had_run = stream.has_run();
        const std::int64_t before = stream.bursts;
        stream.bursts += count;
        if (shared_queue_) limit_entry(before, rank);
        const std::int64_t ahead = stream.run.first - before;
        if (!had_run && stream.has_run()) look_out(sequence + ahead, rank + ahead, now);
    } else if (!stream.continued) {
        stream.continued = true;
        stream.limit = std::min(stream.limit, stream.clock(stream.bursts - depth));
    }
    find_limit();
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

void PseudoChannel::find_limit() {
    Stream& stream = stream_;
    const bool opposed = window_.size(opposite(stream.direction)) > 0;
    stream.certain = std::min(stream.limit, stream.clock(stream.bursts - left_by_stream(opposed)));
    if (!stream.jobs.empty())
        stream.certain = std::min(stream.certain, stream.clock(stream.jobs.front().run.first));
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
        const WaitingRange& range = door.ranges.front();
        const std::int64_t served = std::min(left, range.left);
        data += stream.cadence * served;
        passed_ = range.sequence() > passing ? passed_ + served : 0;
        book_.serve(range.request, served, stream.direction, data);
        left -= served;
        door.leave(served);
    }
    stream.given += count;
    stream.next += stream.cadence * count;
    stream.told = stream.given;
    ledger_.book(BusTime::Transfer, data);
    (stream.direction == Direction::Read ? stats_.read_bursts : stats_.write_bursts) += count;
    stats_.bus_busy += burst_ * count;
}

void PseudoChannel::end_stream() {
    stream_.open = false;
    stream_.refilled = {};
    issue_lanes();
}

/// The window again holds single bursts: what has entered and was not served.
bool PseudoChannel::enter_after_stream(Cycles limit, std::int64_t most) {
    Stream& stream = stream_;
    Door& door = doors_[static_cast<std::size_t>(stream.direction)];
    if (door.bursts == 0) return false;
    const WaitingRange range = door.ranges.front();
    const std::int64_t position = stream.given + window_.size(stream.direction);
    const std::int64_t end = std::min(most, range.left);
    std::int64_t count = 0;
    for (; count < end; ++count) {
        const std::int64_t burst = range.first() + count;
        const Cycles entered = entry_in_stream(position + count, range.rank() + count, range.arrived);
        if (entered >= limit) break;
        if (burst >= stream.refilled.end) stream.refilled = stream.page_of(map_, burst);
        window_.enter(stream.direction,
                      {range.sequence() + count, stream.refilled.row, burst, entered, range.request,
                       static_cast<std::int16_t>(stream.bank_in(stream.refilled, burst))});
    }
    entries_->take(stream.direction, static_cast<int>(count));
    if (count > 0) door.leave(count);
    return count > 0;
}

/// The scheduler sees a burst from this clock on.
Cycles PseudoChannel::entry_in_stream(std::int64_t position, std::int64_t rank, Cycles arrived) const {
    const auto number = static_cast<std::size_t>(position);
    return number < stream_.entered.size() ? stream_.entered[number] : entries_->entry(rank, arrived);
}

void PseudoChannel::resume(Cycles limit) {
    const Stream& stream = stream_;
    if (stream.given < kWorthIt) no_stream_before_ = limit + stream.cadence * (2 * kWorthIt);
    const auto side = static_cast<std::size_t>(stream.direction);
    const std::int64_t last_local = stream.local + stream.given + window_.size(stream.direction) - 1;
    streak_[side] += last_local - last_local_[side];
    last_local_[side] = last_local;
    oldest_ = std::min(window_.oldest_sequence(Direction::Read), window_.oldest_sequence(Direction::Write));
    if (!shared_queue_ && doors_[side].bursts > 0 && entries_->free(stream.direction) > 0) change_ = limit;
    forget_choices();
}

}  // namespace systole
