// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/run_timeline.h"

#include <fmt/format.h>

#include <utility>

#include "models/devices/systolic/machine/command_names.h"
#include "sim/base/check.h"
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
        spans.push_back({mxu.name(), names.of(stretch.command, stretch.owner), begin, stretch.end, layer,
                         stretch.owner, slots[i]});
        begin = stretch.end;
    }
}

/// The track of a unit's commands: "load" below the machine or its core, "mxu0.passes", "mxu0.weights".
std::string command_track(const Machine& machine, UnitIndex unit) {
    std::string name = unit_name(unit, machine.record.program().cores);
    const UnitKind kind = unit_kind(unit);
    if (kind == UnitKind::Matrix) name += ".passes";
    if (kind == UnitKind::Weights) {
        // Modules of weight loaders lie in their matrix unit's.
        const std::size_t dot = name.rfind('.');
        const std::string core = dot == std::string::npos ? "" : name.substr(0, dot + 1);
        name = fmt::format("{}mxu{}.weights", core, mxu_of(unit));
    }
    return fmt::format("{}.{}", machine.name(), name);
}

void add_commands(const Machine& machine, std::vector<Span>& spans) {
    const RunRecord& record = machine.record;
    const Program& program = record.program();
    std::vector<std::string> tracks;  // by unit
    for (std::size_t unit = 0; unit < unit_numbers(program.cores, kMostMxus); ++unit)
        tracks.push_back(command_track(machine, static_cast<UnitIndex>(unit)));
    for (const RunRecord::Bar& bar : record.bars()) {
        const Command& command = program.commands[bar.command];
        spans.push_back({tracks[command.unit], command_name(program, command), record.log()[bar.begun].time,
                         record.log()[bar.done].time, command.layer});
    }
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
    add_commands(machine, timeline.spans);
    check_accounts(timeline, result.total.slots);
    return timeline;
}

}  // namespace systole::systolic
