// SPDX-License-Identifier: Apache-2.0
// The rows of a stream: which run of one row comes next, when the scheduler may know of it, and the commands
// that open it beside the columns of others.
#include <algorithm>

#include "models/memory/controller/pseudo_channel.h"

namespace systole {

/// The next run has arrived: it comes into question when its first burst has entered and the bank's last run
/// is through.
void PseudoChannel::look_out(std::int64_t sequence, std::int64_t rank, Cycles arrived) {
    Stream& stream = stream_;
    const Stream::Lane& lane = stream.lanes[static_cast<std::size_t>(stream.run.bank)];
    const Cycles entry = std::max(entry_in_stream(stream.run.first, rank, arrived), stream.seen_since);
    stream.run_sequence = sequence;
    stream.sight = lane.first < 0 ? entry : std::max(entry, stream.clock(lane.last));
}

void PseudoChannel::look_for_run() {
    stream_.sight = Cycles::max();
    if (!stream_.has_run()) return;
    const Door& door = this->door(stream_.direction);
    const Door::Place place = door.place_of(stream_.run.first - stream_.given);
    const WaitingRange& range = door.ranges[place.range];
    look_out(range.sequence() + place.before, range.rank() + place.before, range.arrived);
}

/// Tells the bank timing of the last column that the bank's run has got, at position `last`. Others follow in
/// time.
void PseudoChannel::issue_lane(int bank, std::int64_t last) {
    timing_.issue_in_bank(stream_command(), bank, stream_.clock(last));
    bound(stream_.direction) &= ~bank_bit(bank);
}

/// As above, for all runs that have got some of their columns; and of the last column in each group.
void PseudoChannel::issue_lanes() {
    const std::int64_t stride = map_.column_stride(), given = stream_.given;  // the stride is a power of two
    for (std::size_t bank = 0; bank < stream_.lanes.size(); ++bank) {
        const Stream::Lane& lane = stream_.lanes[bank];
        if (lane.first < 0 || lane.first >= given) continue;
        const std::int64_t before = (given - 1 - lane.first) & -stride;
        issue_lane(static_cast<int>(bank), std::min(lane.last, lane.first + before));
    }
    for (std::int64_t last = std::max(given - groups_, std::int64_t{0}); last < given; ++last)
        timing_.issue(stream_command(), map_.bank_of(stream_.local + last), stream_.clock(last));
}

/// The row of the run is open and ready in time, or must be opened in time, or the stream ends.
void PseudoChannel::sight_run(const CommandBus& bus) {
    Stream& stream = stream_;
    const Stream::Run& run = stream.run;
    Stream::Lane& lane = stream.lanes[static_cast<std::size_t>(run.bank)];
    if (lane.first >= 0) issue_lane(run.bank, lane.last);
    lane = {run.first, run.last};
    if (window_.open_row(run.bank) != run.row) {
        stream.jobs.push_back({run, stream.run_sequence, stream.sight});
        const Cycles when = clock_of(stream.jobs.back(), soonest_for_jobs(bus));
        if (when < stream.beside.when) set_beside(when, stream.jobs.size() - 1);
        stream.certain = std::min(stream.certain, stream.clock(run.first));
    } else {
        limit_stream(run);
    }
    stream.next_run(map_);
    look_for_run();
}

/// The stream ends before the run if its row is not ready in time.
void PseudoChannel::limit_stream(const Stream::Run& run) {
    const Cycles clock = stream_.clock(run.first);
    if (timing_.local(stream_command(), run.bank) <= clock) return;
    stream_.limit = std::min(stream_.limit, clock);
    stream_.certain = std::min(stream_.certain, clock);
}

/// ACT and PRE are not given before, whatever the bank.
std::array<Cycles, 2> PseudoChannel::soonest_for_jobs(const CommandBus& bus) const {
    return {soonest_of_any(Command::Act, bus, Cycles()), soonest_of_any(Command::Pre, bus, Cycles())};
}

/// When the next command for the row of the job's run can be given.
Cycles PseudoChannel::clock_of(const Stream::Job& job, const std::array<Cycles, 2>& soonest) const {
    const Command command = row_command(bank_bit(job.run.bank));
    return std::max(std::max(job.since, soonest[row_index(command)]), timing_.local(command, job.run.bank));
}

void PseudoChannel::set_beside(Cycles when, std::size_t number) {
    Stream& stream = stream_;
    const Stream::Job& job = stream.jobs[number];
    stream.beside.when = when;
    stream.beside.sequence = job.sequence;
    stream.beside.command = row_command(bank_bit(job.run.bank));
    stream.beside.bank = static_cast<std::int16_t>(job.run.bank);
    stream.beside_job = number;
}

/// Of jobs at one clock the first is the oldest.
void PseudoChannel::find_beside(const CommandBus& bus) {
    Stream& stream = stream_;
    const std::array<Cycles, 2> soonest = soonest_for_jobs(bus);
    Cycles least = Cycles::max();
    std::size_t first = 0;
    for (std::size_t i = 0; i < stream.jobs.size(); ++i) {
        const Cycles when = clock_of(stream.jobs[i], soonest);
        const bool before = when < least;
        least = before ? when : least;
        first = before ? i : first;
    }
    stream.beside_known = true;
    if (stream.jobs.empty())
        stream.beside.when = Cycles::max();
    else
        set_beside(least, first);
}

std::int64_t PseudoChannel::take_beside_stream() {
    Stream& stream = stream_;
    const Choice& choice = stream.beside;
    stream.beside_known = false;
    if (choice.command == Command::Pre) return precharge_row(choice);
    const auto job = stream.jobs.begin() + static_cast<std::ptrdiff_t>(stream.beside_job);
    const Stream::Run run = job->run;
    stream.jobs.erase(job);
    activate_row(choice, run.row);
    limit_stream(run);
    find_limit();
    return run.row;
}

}  // namespace systole
