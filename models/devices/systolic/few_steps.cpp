// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/few_steps.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "models/devices/systolic/machine/machine.h"
#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/program/repeated_steps.h"
#include "models/devices/systolic/program/shorter_program.h"
#include "models/devices/systolic/program/turns_of_steps.h"
#include "models/memory/addresses/address_map.h"
#include "sim/base/text.h"
#include "sim/device/merged_parts.h"
#include "sim/device/reuse.h"
#include "sim/kernel/kernel.h"

namespace systole::systolic {
namespace {

/// What takes less at its peaks is simulated in a fraction of a second, and better whole.
constexpr Ticks kLeast(250'000'000);
/// Each block's ends are as uncertain as a refresh.
constexpr std::size_t kMostBlocks = 8;

/// Cores meet in the memory, now so and now otherwise, and one that is ahead of others at the end of a
/// block begins the next one without them: what a few turns tell is no measure of all.
bool several_cores_work(const Program& program) {
    return std::ranges::any_of(program.commands, [&](const Command& command) {
        return core_of(command.unit) != core_of(program.commands.front().unit);
    });
}

bool may_leave_out(const Program& program, const SystolicSpec& spec, const RunOptions& options) {
    // Slices of layers end in another order than the program has.
    const bool sliced = std::ranges::any_of(program.layers, [](const LayerInfo& l) { return l.slices > 1; });
    return !sliced && !several_cores_work(program) && options.protocol.reuses() &&
           options.timeline != WantTimeline::Yes && options.protocol.launch != Protocol::Launch::Stream &&
           spec.mxu.engine != EngineKind::Grid && !spec.faults.utilization_less_one_cycle;
}

/// No machine with these peaks takes less for the whole program.
Ticks floor_of(const Program& program, const SystolicSpec& spec) {
    Work work;
    for (const LayerInfo& layer : program.layers) work.macs += Macs(layer.macs);
    for (const Transfer& transfer : program.transfers)
        if (transfer.from.place == Place::Dram || transfer.to.place == Place::Dram)
            work.dram += Bytes(transfer.bytes());
    Peaks peaks;
    for (const LayerInfo& layer : program.layers) peaks.macs = std::max(peaks.macs, peak_of(spec, layer));
    peaks.dram = spec.memory.peak();
    peaks.clock = spec.core_clock;
    return ClockDomain(spec.core_clock).after(Ticks(0), roofline(work, peaks).floor());
}

/// The longest blocks whose ends are not too uncertain; none if they are less than half of the program.
std::vector<RepeatedSteps> worthwhile(const Program& program, const SystolicSpec& spec) {
    const Int128 floor = floor_of(program, spec).value();
    // A run takes up to about twice as long as the floor says.
    const auto known = [&](std::size_t blocks) {
        return Int128{doubt_of_ends(blocks, spec.memory.longest_refresh()).value()} * kInRounds.promise <=
               2 * floor;
    };
    std::size_t most = 0;
    while (most < kMostBlocks && known(most + 1)) ++most;
    if (most == 0 || floor < kLeast.value()) return {};
    const std::int64_t cycle = spec.memory.is_dram() ? address_cycle(spec.memory) : 1;
    std::vector<RepeatedSteps> blocks =
        in_turns(program, find_repeated_steps(program, kTurnsWorthReuse), cycle);
    const auto commands = [](const RepeatedSteps& block) { return block.end() - block.first; };
    std::ranges::stable_sort(blocks, std::greater(), commands);
    blocks.resize(std::min(blocks.size(), most));
    std::size_t covered = 0;
    for (const RepeatedSteps& block : blocks) covered += commands(block);
    if (2 * covered < program.commands.size()) return {};
    std::ranges::sort(blocks, {}, &RepeatedSteps::first);
    return blocks;
}

EqualTurns turns_of(const Parts& parts, const Program& program, const std::vector<RepeatedSteps>& blocks) {
    EqualTurns turns;
    for (const std::size_t layer : parts.layers) turns.names.push_back(program.layers[layer].name);
    for (std::size_t b = 0; b < blocks.size(); ++b)
        turns.blocks.push_back({parts.first_of_block[b], 1, blocks[b].steps});
    return turns;
}

MarkedRun run_marked(const Program& program, const SystolicSpec& spec, const RunOptions& options,
                     const std::vector<std::size_t>& marks) {
    const FreshKernel kernel;
    Machine machine(instance_name(spec.name).c_str(), spec, program, options);
    machine.mark_after(marks);
    machine.run();
    return marked_run(machine, spec, options.protocol, marks);
}

/// So many turns of each block have begun where commands before `issued` are issued, and so many turns left.
std::vector<std::size_t> begun(const std::vector<RepeatedSteps>& blocks,
                               const std::vector<std::size_t>& turns, std::size_t issued) {
    std::vector<std::size_t> begun;
    std::size_t left_out = 0;  // commands before the block
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const std::size_t first = blocks[b].first - left_out;
        const std::size_t commands = issued - std::min(first, issued);
        begun.push_back(std::min((commands + blocks[b].commands - 1) / blocks[b].commands, turns[b]));
        left_out += (blocks[b].steps - turns[b]) * blocks[b].commands;
    }
    return begun;
}

/// Commands are issued so many turns before their turn: as many as fill the queue of the unit that has the
/// most in a turn, and what such units do ahead of others.
std::size_t turns_ahead(const Program& program, const std::vector<RepeatedSteps>& blocks,
                        const SystolicSpec& spec) {
    std::size_t ahead = 0;
    for (const RepeatedSteps& block : blocks) {
        std::map<UnitIndex, std::size_t> commands;
        for (std::size_t i = 0; i < block.commands; ++i) ++commands[program.commands[block.first + i].unit];
        std::size_t most = 1;
        for (const auto& [unit, count] : commands) most = std::max(most, count);
        ahead = std::max(ahead, static_cast<std::size_t>(spec.sequencer.queue_depth) / most + 2);
    }
    return ahead;
}

/// Two turns may agree only if a refresh is no more than a thousandth of them, and turns take two times as
/// long as at their peaks, or less.
bool two_may_agree(const std::vector<RepeatedSteps>& blocks, Ticks jitter, Ticks floor) {
    std::size_t steps = 0;
    for (const RepeatedSteps& block : blocks) steps += block.steps;
    return Int128{4} * floor.value() >=
           Int128{kInRounds.promise} * jitter.value() * static_cast<std::int64_t>(steps);
}

GrowingRules rules_of(const Program& program, const std::vector<RepeatedSteps>& blocks,
                      const SystolicSpec& spec) {
    const Ticks jitter = spec.memory.longest_refresh();
    return {turns_ahead(program, blocks, spec), jitter, refreshes_of(spec.memory),
            two_may_agree(blocks, jitter, floor_of(program, spec))};
}

/// Runs so many turns, and with how many it goes on it is told. Nothing if commands that are issued would be
/// others then.
std::optional<MarkedRun> run_growing(const Program& program, const std::vector<RepeatedSteps>& blocks,
                                     TurnsLeft left, const SystolicSpec& spec, const RunOptions& options,
                                     const HowManyTurns& how_many) {
    const ShorterPrograms shorter(program, blocks);
    // The machine keeps to patterns of the first; of others it needs the last one.
    const Program first = shorter.with(left.turns);
    std::unique_ptr<const Program> running, before;
    bool goes_on = true;
    const FreshKernel kernel;
    Machine machine(instance_name(spec.name).c_str(), spec, first, options);
    machine.mark_after(left.marks, [&](const std::vector<Mark>& met, std::size_t issued) {
        std::optional<Machine::Other> other;
        if (!goes_on) return other;
        std::optional<TurnsLeft> turns = how_many(met, begun(blocks, left.turns, issued));
        if (!turns) return other;
        auto next = std::make_unique<const Program>(shorter.with(turns->turns));
        goes_on = same_until(running ? *running : first, *next, issued);
        if (!goes_on) return other;
        left = *std::move(turns);
        before = std::exchange(running, std::move(next));  // until the machine has gone on
        return other = {running.get(), left.marks};
    });
    machine.run();
    if (!goes_on) return std::nullopt;
    return marked_run(machine, spec, options.protocol, left.marks);
}

/// Turns until they agree: found on the way where commands are issued not long before they are due, by runs
/// of more and more of them where all are issued at once.
std::optional<DeviceResult> run_turns(const EqualTurns& turns, const Program& program,
                                      const std::vector<RepeatedSteps>& blocks, const SystolicSpec& spec,
                                      const RunOptions& options) {
    const RunTurns run = [&](const auto& left, const auto& marks) {
        return run_marked(shorten(program, blocks, left), spec, options, marks);
    };
    if (spec.sequencer.queue_depth == kUnboundedQueue) return run_reusing(turns, run);
    const RunGrowing growing = [&](const TurnsLeft& at_first, const HowManyTurns& how_many) {
        return run_growing(program, blocks, at_first, spec, options, how_many);
    };
    return systole::run_growing(turns, run, rules_of(program, blocks, spec), growing);
}

}  // namespace

std::optional<DeviceResult> run_few_steps(const Program& program, const SystolicSpec& spec,
                                          const RunOptions& options) {
    if (!may_leave_out(program, spec, options)) return std::nullopt;
    const std::vector<RepeatedSteps> blocks = worthwhile(program, spec);
    if (blocks.empty()) return std::nullopt;
    const Parts parts = parts_of(program, blocks);
    std::optional<DeviceResult> result =
        run_turns(turns_of(parts, program, blocks), program, blocks, spec, options);
    if (!result) return std::nullopt;
    merge_rows(*result, parts.layers);
    for (std::size_t layer = 0; layer < program.layers.size(); ++layer) {
        ResultRow& row = result->layers[layer];
        Peaks peaks = result->peaks;
        peaks.macs = peak_of(spec, program.layers[layer]);
        row.roofline = roofline(work_of(row), peaks);
    }
    // Of several layers nobody knows the whole path of each: what bounds most of its parts stands.
    if (program.layers.size() == 1) result->layers.front().bound_by = result->total.bound_by;
    return result;
}

}  // namespace systole::systolic
