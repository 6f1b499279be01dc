// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/run_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "models/devices/systolic/machine/command_names.h"
#include "sim/timeline/binned_counter.h"

namespace systole::systolic {
namespace {

/// What comes and goes at a unit; each in any order.
struct Level {
    std::vector<std::pair<Ticks, std::int64_t>> changes;

    void add(Ticks from, Ticks until, std::int64_t amount) {
        changes.emplace_back(from, amount);
        changes.emplace_back(until, -amount);
    }
    CounterTrack over_time(const std::string& track, const char* name, const char* unit, Ticks end) {
        // What goes away first, then what comes: nothing stands above what was ever there.
        std::sort(changes.begin(), changes.end());
        BinnedLevel level;
        for (const auto& [time, by] : changes) level.change(std::min(time, end), by);
        return level.mean(track, name, unit, 1, end);
    }
};

/// Of one unit.
struct UnitLevels {
    Level queued, bytes;
};

bool is_transfer(UnitIndex unit) {
    const UnitKind kind = unit_kind(unit);
    return kind != UnitKind::Matrix && kind != UnitKind::Vector;
}

std::map<UnitIndex, UnitLevels> levels_of(const RunRecord& record) {
    const Program& program = record.program();
    const CausalLog& log = record.log();
    std::map<UnitIndex, UnitLevels> units;
    for (const RunRecord::Bar& bar : record.bars()) {
        const Command& command = program.commands[bar.command];
        UnitLevels& unit = units[command.unit];
        const bool transfer = is_transfer(command.unit);
        // A transfer leaves its queue when its DMA engine is set up for it.
        const Ticks begun = transfer ? log[log[bar.begun].cause].time : log[bar.begun].time;
        if (bar.issued != CausalLog::kNone) unit.queued.add(log[bar.issued].time, begun, 1);
        if (transfer)
            unit.bytes.add(log[bar.begun].time, log[bar.done].time, program.transfer(command).bytes());
    }
    return units;
}

/// Tiles from their arrival until the array takes them.
CounterTrack fifo_of(const MatrixUnit& mxu, const RunRecord& record, UnitIndex loader, Ticks end) {
    Level tiles;
    std::size_t arrived = 0;
    for (const RunRecord::Bar& bar : record.bars())
        if (record.program().commands[bar.command].unit == loader && arrived < mxu.tiles_left().size()) {
            const Ticks there = record.log()[bar.done].time;
            tiles.add(there, std::max(there, mxu.tiles_left()[arrived++]), 1);
        }
    return tiles.over_time(mxu.name(), "weight FIFO", "tiles", end);
}

}  // namespace

std::vector<CounterTrack> counters_of(const Machine& machine, Ticks end) {
    std::vector<CounterTrack> counters = machine.memory.traffic(end);
    for (auto& [unit, levels] : levels_of(machine.record)) {
        const std::string track = command_track(machine.name(), machine.record.program(), unit);
        counters.push_back(levels.queued.over_time(track, "queue", "commands", end));
        if (is_transfer(unit)) counters.push_back(levels.bytes.over_time(track, "bytes under way", "B", end));
    }
    for (const auto& core : machine.cores)
        for (std::size_t i = 0; i < core->mxus.size(); ++i) {
            const MatrixUnit& mxu = *core->mxus[i];
            const UnitIndex loader = unit_index(UnitKind::Weights, static_cast<int>(i), core->index);
            if (!mxu.tiles_left().empty()) counters.push_back(fifo_of(mxu, machine.record, loader, end));
        }
    return counters;
}

}  // namespace systole::systolic
