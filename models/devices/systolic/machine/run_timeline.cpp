// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/run_timeline.h"

#include <optional>

#include "models/devices/systolic/machine/command_names.h"
#include "models/devices/systolic/machine/run_counters.h"
#include "sim/timeline/activity.h"

namespace systole::systolic {
namespace {

/// Names cost more than all else, and stretches of a run have few different ones.
class Names {
public:
    explicit Names(const Program& program) : program_(program) {}

    const std::string& of(std::uint32_t command, SlotClass owner) {
        if (command != command_ || owner != owner_ || name_.empty()) {
            command_ = command;
            owner_ = owner;
            const Command& named = program_.commands[command];
            name_ = owner == SlotClass::Useful ? command_name(program_, named)
                                               : wait_name(program_, named, owner);
        }
        return name_;
    }

private:
    const Program& program_;
    std::uint32_t command_ = 0;
    SlotClass owner_ = SlotClass::Useful;
    std::string name_;
};

/// The unit's time from 0 to the end of the run: one span a stretch, with the slots that the account has
/// there.
void add_account(const MatrixUnit& mxu, const Program& program, std::vector<Span>& spans) {
    const auto& stretches = mxu.stretches();
    std::vector<Ticks> ends;
    ends.reserve(stretches.size());
    for (const auto& stretch : stretches) ends.push_back(stretch.end);
    if (ends.empty()) return;
    const std::vector<ClassSlots> slots = cut({&mxu.account()}, ends);
    Names names(program);
    Ticks begin;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        const auto& stretch = stretches[i];
        const std::int32_t layer =
            stretch.owner == SlotClass::Tail ? -1 : program.commands[stretch.command].layer;
        const SlotClass owner = stretch.owner == SlotClass::Useful ? most_of(slots[i]) : stretch.owner;
        spans.push_back({mxu.name(), names.of(stretch.command, stretch.owner), begin, stretch.end, layer,
                         owner, slots[i]});
        begin = stretch.end;
    }
}

/// Which command released one that begins with the event `begun`: the one whose completion it waited for
/// last. Nothing where that was something else (its own issue, a free place).
std::optional<std::uint32_t> released_by(const CausalLog& log, const std::vector<CausalLog::EventId>& done,
                                         const RunRecord::Bar& bar) {
    for (CausalLog::EventId event = bar.begun; event != CausalLog::kNone; event = log[event].cause) {
        const std::uint32_t command = log[event].command;
        if (command == bar.command) continue;
        if (done[command] == event) return command;
        return std::nullopt;
    }
    return std::nullopt;
}

void add_commands(const Machine& machine, Timeline& timeline) {
    const RunRecord& record = machine.record;
    const Program& program = record.program();
    const CausalLog& log = record.log();
    std::vector<std::string> tracks;  // by unit
    for (std::size_t unit = 0; unit < unit_numbers(program.cores, kMostMxus); ++unit)
        tracks.push_back(command_track(machine.name(), program, static_cast<UnitIndex>(unit)));
    std::vector<CausalLog::EventId> done(program.commands.size(), CausalLog::kNone);
    std::vector<std::size_t> span_of(program.commands.size());
    for (const RunRecord::Bar& bar : record.bars()) {
        const Command& command = program.commands[bar.command];
        done[bar.command] = bar.done;
        span_of[bar.command] = timeline.spans.size();
        timeline.spans.push_back({tracks[command.unit], command_name(program, command), log[bar.begun].time,
                                  log[bar.done].time, command.layer});
    }
    for (const RunRecord::Bar& bar : record.bars())
        if (const auto before = released_by(log, done, bar))
            timeline.flows.push_back({span_of[*before], span_of[bar.command]});
}

}  // namespace

Timeline timeline_of(const Machine& machine, const DeviceResult& result) {
    Timeline timeline;
    const Program& program = machine.record.program();
    const std::vector<Ticks> bins = even_bins(result.total.end);
    for (const MatrixUnit* mxu : machine.mxus()) {
        add_account(*mxu, program, timeline.spans);
        timeline.activity.push_back({mxu->name(), 1, cut({&mxu->account()}, bins)});
    }
    add_commands(machine, timeline);
    timeline.counters = counters_of(machine, result.total.end);
    check_accounts(timeline, result.total.slots);
    return timeline;
}

}  // namespace systole::systolic
