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
    const Cycles entry = std::max(entries_->entry(rank, arrived), stream.seen_since);
    stream.run_sequence = sequence;
    stream.sight = lane.first < 0 ? entry : std::max(entry, stream.clock(lane.last));
}

void PseudoChannel::look_for_run() {
    stream_.sight = Cycles::max();
    if (!stream_.has_run()) return;
    const Fifo<WaitingRange>& ranges = door(stream_.direction).ranges;
    std::int64_t behind = stream_.run.first - stream_.given;
    std::size_t i = 0;
    while (behind >= ranges[i].left) behind -= ranges[i++].left;
    look_out(ranges[i].sequence() + behind, ranges[i].rank() + behind, ranges[i].arrived);
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

/// The row of the run is open and ready in time, or must be opened in time, or the stream ends.
void PseudoChannel::sight_run(const CommandBus& bus) {
    Stream& stream = stream_;
    const Stream::Run run = stream.run;
    issue_lane(run.bank, run.first);
    stream.lanes[static_cast<std::size_t>(run.bank)] = {run.first, run.last, false};
    if (window_.open_row(run.bank) != run.row) {
        stream.jobs.push_back({run, stream.run_sequence, stream.sight});
        const Choice choice = beside_stream(stream.jobs.back(), bus);
        if (choice.before(stream.beside)) stream.beside = choice;
    } else {
        limit_stream(run);
    }
    stream.next_run(map_);
    look_for_run();
}

/// The stream ends before the run if its row is not ready in time.
void PseudoChannel::limit_stream(const Stream::Run& run) {
    const Cycles clock = stream_.clock(run.first);
    if (timing_.local(stream_command(), run.bank) > clock) stream_.limit = std::min(stream_.limit, clock);
}

/// The next command for a run's row.
Choice PseudoChannel::beside_stream(const Stream::Job& job, const CommandBus& bus) const {
    const Command command = row_command(bank_bit(job.run.bank));
    const Cycles free = std::max(job.since, bus.free(command));
    const Cycles when = std::max(free, timing_.earliest(command, job.run.bank));
    return {when,    job.sequence,      Choice::Kind::Row,
            command, stream_.direction, static_cast<std::int16_t>(job.run.bank)};
}

const Choice& PseudoChannel::next_beside_stream(const CommandBus& bus) {
    Stream& stream = stream_;
    const bool known = stream.beside_known && (stream.beside.when == Cycles::max() ||
                                               stream.beside.when >= bus.free(stream.beside.command));
    if (known) return stream.beside;
    stream.beside = Choice();
    for (const Stream::Job& job : stream.jobs) {
        const Choice choice = beside_stream(job, bus);
        if (choice.before(stream.beside)) stream.beside = choice;
    }
    stream.beside_known = true;
    return stream.beside;
}

std::int64_t PseudoChannel::take_beside_stream(const Choice& choice) {
    Stream& stream = stream_;
    stream.beside_known = false;
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

}  // namespace systole
