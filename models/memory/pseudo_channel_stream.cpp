// SPDX-License-Identifier: Apache-2.0
// The fast path of PseudoChannel: a stream of consecutive bursts takes the data bus at its full rate, in
// order, while the rows of the next page are opened beside it. Columns cost nothing here, only rows do. It
// changes no command (tests/unit/memory/channel_twin.cpp).
#include <algorithm>
#include <bit>

#include "models/memory/pseudo_channel.h"
#include "sim/base/check.h"

namespace systole {
namespace {

constexpr std::int64_t kWorthIt = 12;  // columns: beginning and ending costs about as much as so many

}  // namespace

bool PseudoChannel::can_stream(Cycles until) const {
    const Direction direction = active_, idle = opposite(direction);
    const Cycles cadence = of(ccd_, direction);
    if (!column_known_ || column_.when + cadence * kWorthIt > until || column_.when < no_stream_before_)
        return false;
    if (shared_queue_ || page_ != PagePolicy::Open || capped_ != 0 || urgent_ || refresh_.pending())
        return false;
    if (change_ != Cycles::max() || window_.size(idle) != 0 || door(idle).bursts != 0) return false;
    // Consecutive bursts must rotate over the bank groups, so that each may follow the one before at once.
    if (cadence != burst_ || !map_.groups_lowest() || map_.column_stride() < groups_) return false;
    if (cadence * groups_ < of(ccd_long_, direction)) return false;
    // The window must hold one unbroken range, of which the first burst is next.
    const auto side = static_cast<std::size_t>(direction);
    const std::int64_t size = window_.size(direction);
    if (size == 0 || column_.sequence != window_.oldest(direction).sequence) return false;
    return last_local_[side] - window_.oldest(direction).local + 1 == size && streak_[side] >= size &&
           reach_of_stream().columns > kWorthIt;
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

void PseudoChannel::begin_stream(Cycles now, Cycles limit) {
    const Direction direction = active_;
    Stream& stream = stream_;
    stream.direction = direction;
    stream.window.clear();
    window_.for_each(direction, [&](const Window::Burst& burst) { stream.window.push_back(burst); });
    stream.visible = window_.size(direction);
    stream.local = stream.window.front().local;
    const Reach reach = reach_of_stream();
    stream.bursts = reach.bursts;
    stream.begin = column_.when;
    stream.seen_since = now;
    stream.cadence = of(ccd_, direction);
    stream.limit = std::min({limit, refresh_.due(), stream.clock(reach.columns)});
    stream.start(map_, bursts_per_row_);
    book_before(column_, stream.window.front().entered);
    for (std::int64_t i = 0; i < stream.visible; ++i) entries_->give(direction);
    window_.clear(direction);
    forget_choices();
}

std::int64_t PseudoChannel::sequence_in_stream(std::int64_t position) {
    Stream& stream = stream_;
    if (position < stream.visible) return stream.window[static_cast<std::size_t>(position)].sequence;
    const Fifo<Range>& ranges = door(stream.direction).ranges;
    for (; position >= stream.range_begin + ranges[stream.range].left; ++stream.range)
        stream.range_begin += ranges[stream.range].left;
    return ranges[stream.range].sequence + position - stream.range_begin;
}

/// Tells the bank timing of the last column before position `before` that the bank's run has got.
void PseudoChannel::issue_lane(int bank, std::int64_t before) {
    Stream::Lane& lane = stream_.lanes[static_cast<std::size_t>(bank)];
    if (lane.first < 0 || lane.issued || lane.first >= before) return;
    const std::int64_t stride = map_.column_stride();
    const std::int64_t last = lane.first + (std::min(lane.last, before - 1) - lane.first) / stride * stride;
    timing_.issue(stream_command(), bank, stream_.clock(last));
    bound(stream_.direction) &= ~bank_bit(bank);
    lane.issued = true;
}

/// When the next run comes into question: its first burst has entered and the bank's last run is through.
Cycles PseudoChannel::next_in_sight() const {
    if (!stream_.has_run()) return Cycles::max();
    const Stream::Lane& lane = stream_.lanes[static_cast<std::size_t>(stream_.run.bank)];
    const Cycles entry = stream_.entry(stream_.run.first);
    return lane.first < 0 ? entry : std::max(entry, stream_.clock(lane.last));
}

/// The row of the run is open and ready in time, or must be opened in time, or the stream ends.
void PseudoChannel::sight_run() {
    Stream& stream = stream_;
    const Stream::Run run = stream.run;
    const Cycles since = next_in_sight();
    issue_lane(run.bank, run.first);
    stream.lanes[static_cast<std::size_t>(run.bank)] = {run.first, run.last, false};
    if (window_.open_row(run.bank) != run.row)
        stream.jobs.push_back({run, sequence_in_stream(run.first), since});
    else
        limit_stream(run);
    stream.next_run(map_);
}

/// The stream ends before the run if its row is not ready in time.
void PseudoChannel::limit_stream(const Stream::Run& run) {
    const Cycles clock = stream_.clock(run.first);
    if (timing_.local(stream_command(), run.bank) > clock) stream_.limit = std::min(stream_.limit, clock);
}

Choice PseudoChannel::next_beside_stream(const CommandBus& bus) const {
    Choice best;
    for (const Stream::Job& job : stream_.jobs) {
        const int bank = job.run.bank;
        const Command command = window_.open_row(bank) == Window::kClosed ? Command::Act : Command::Pre;
        const Cycles when = std::max({job.since, bus.free(command), timing_.earliest(command, bank)});
        const Choice choice{when,    job.sequence,      Choice::Kind::Row,
                            command, stream_.direction, static_cast<std::int16_t>(bank)};
        if (choice.before(best)) best = choice;
    }
    return best;
}

std::int64_t PseudoChannel::take_beside_stream(const Choice& choice) {
    Stream& stream = stream_;
    const int bank = choice.bank;
    if (choice.command == Command::Pre) return precharge_row(choice);
    const auto job = std::find_if(stream.jobs.begin(), stream.jobs.end(),
                                  [bank](const Stream::Job& other) { return other.run.bank == bank; });
    const Stream::Run run = job->run;
    stream.jobs.erase(job);
    activate_row(choice, run.row);
    limit_stream(run);
    return run.row;
}

GivenCommand PseudoChannel::tell_column() {
    const RowRun place = map_.locate(stream_.local + stream_.told);
    return {stream_command(), number_, place.bank, place.row, stream_.clock(stream_.told++)};
}

void PseudoChannel::end_stream(Cycles limit) {
    Stream& stream = stream_;
    const std::int64_t count = stream.columns_before(limit);
    SYSTOLE_CHECK(count > 0, "a stream of no columns before clock {}", limit.value());
    if (count < kWorthIt) no_stream_before_ = limit + stream.cadence * (2 * kWorthIt);
    for (std::size_t bank = 0; bank < stream.lanes.size(); ++bank) issue_lane(static_cast<int>(bank), count);
    ledger_.book(BusTime::Transfer, stream.clock(count - 1) + of(latency_, stream.direction));
    (stream.direction == Direction::Read ? stats_.read_bursts : stats_.write_bursts) += count;
    stats_.bus_busy += burst_ * count;
    passed_ = 0;
    refill(count, limit);
    oldest_ = window_.oldest_sequence(stream.direction);
}

void PseudoChannel::reenter(const Window::Burst& burst) {
    window_.enter(stream_.direction, burst);
    entries_->take(stream_.direction);
}

/// The window again holds single bursts: what was not served of the old, and what has entered since.
void PseudoChannel::refill(std::int64_t count, Cycles limit) {
    const Stream& stream = stream_;
    const auto side = static_cast<std::size_t>(stream.direction);
    Door& door = doors_[side];
    std::int64_t position = 0;
    for (const Window::Burst& burst : stream.window) {
        if (position < count)
            book_.serve(burst.request, 1, stream.direction,
                        stream.clock(position) + of(latency_, stream.direction));
        else
            reenter(burst);
        ++position;
    }
    // The entry that the last column frees is filled at the next clock, which may not have come yet.
    const std::int64_t freed = stream.columns_before(limit - Cycles(1));
    const std::int64_t end = position + std::min(door.bursts, freed);
    while (position < end) {
        Range& range = door.ranges.front();
        const std::int64_t through = std::clamp<std::int64_t>(count - position, 0, range.left);
        if (through > 0) {
            const std::int64_t served = std::min(through, end - position);
            position += served;
            book_.serve(range.request, served, stream.direction,
                        stream.clock(position - 1) + of(latency_, stream.direction));
            range.first += served, range.sequence += served, range.left -= served, door.bursts -= served;
        } else {
            const RowRun place = map_.locate(range.first);
            reenter({range.sequence, place.row, range.first, stream.entry(position), range.request,
                     static_cast<std::int16_t>(place.bank)});
            ++range.first, ++range.sequence, --range.left, --door.bursts, ++position;
        }
        if (range.left == 0) door.ranges.pop();
    }
    const std::int64_t last_local = stream.local + position - 1;
    streak_[side] += last_local - last_local_[side];
    last_local_[side] = last_local;
    if (door.bursts > 0 && entries_->free(stream.direction) > 0) change_ = limit;
}

}  // namespace systole
