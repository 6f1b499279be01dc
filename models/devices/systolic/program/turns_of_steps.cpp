// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/turns_of_steps.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/device/equal_turns.h"

namespace systole::systolic {
namespace {

/// Steps are taken together until there are fewer than twice as many turns.
constexpr std::size_t kTurns = 64;
/// After more steps than these nobody looks whether operands advance evenly.
constexpr std::size_t kMostSteps = 64;

/// By how much what a command moves out of the memory, or into it, lies behind what `other` does.
std::int64_t advance(const Program& program, const Command& command, const Command& other) {
    const UnitKind kind = unit_kind(command.unit);
    if (kind == UnitKind::Matrix || kind == UnitKind::Vector) return 0;
    const Transfer &own = program.transfer(command), &before = program.transfer(other);
    if (own.from.place == Place::Dram) return own.from.address - before.from.address;
    return own.to.place == Place::Dram ? own.to.address - before.to.address : 0;
}

/// How far operands of `step` lie behind those of so many steps before, by command of a step.
std::vector<std::int64_t> advances_at(const Program& program, const RepeatedSteps& block, std::size_t step,
                                      std::size_t steps) {
    std::vector<std::int64_t> advances;
    for (std::size_t i = 0; i < block.commands; ++i) {
        const Command* command = &program.commands[block.first + step * block.commands + i];
        advances.push_back(advance(program, *command, *(command - steps * block.commands)));
    }
    return advances;
}

/// Steps whose operands all advance by the same in so many steps.
struct EvenSteps {
    RepeatedSteps block;
    std::vector<std::int64_t> advances;
};

/// The longest such steps of a block: what is fetched ahead in its last ones may lie elsewhere.
EvenSteps longest_even(const Program& program, const RepeatedSteps& block, std::size_t steps) {
    EvenSteps longest, now;
    for (std::size_t step = steps; step < block.steps; ++step) {
        std::vector<std::int64_t> advances = advances_at(program, block, step, steps);
        if (now.block.steps == 0 || advances != now.advances) {
            now.block = block;
            now.block.first += (step - steps) * block.commands;
            now.block.steps = steps;
            now.advances = std::move(advances);
        }
        if (++now.block.steps > longest.block.steps) longest = now;
    }
    return longest;
}

/// Without a look at all steps: two in the middle advance evenly, as they do if half of all steps, one behind
/// the other, do. (Programs have millions of commands, and many distances are tried.)
bool may_be_even(const Program& program, const RepeatedSteps& block, std::size_t steps) {
    for (const std::size_t step : {block.steps / 2, block.steps / 2 + block.steps / 8})
        if (advances_at(program, block, step, steps) == advances_at(program, block, step + 1, steps))
            return true;
    return false;
}

/// Operands of steps come round: after so many they meet the same channels, banks and columns of the memory
/// again, in rows that were not met before, or the same. Until then steps differ.
struct StepsAround {
    RepeatedSteps block;  ///< or a part of it
    std::size_t steps = 0;
};

/// The longest part of a block of which operands advance evenly, if they come round in no more steps than
/// leave enough of such turns. `cycle`: bytes around all channels, banks and columns, a power of two.
std::optional<StepsAround> steps_around(const Program& program, const RepeatedSteps& block,
                                        std::int64_t cycle) {
    for (std::size_t steps = 1; steps <= std::min(block.steps / kTurnsWorthReuse, kMostSteps); ++steps) {
        if (!may_be_even(program, block, steps)) continue;
        const EvenSteps even = longest_even(program, block, steps);
        if (2 * even.block.steps < block.steps) continue;
        std::size_t around = 1;
        for (const std::int64_t bytes : even.advances)
            around = std::max(around, static_cast<std::size_t>(cycle / std::gcd(cycle, bytes)));
        return StepsAround{even.block, steps * around};
    }
    return std::nullopt;
}

}  // namespace

std::vector<RepeatedSteps> in_turns(const Program& program, const std::vector<RepeatedSteps>& blocks,
                                    std::int64_t cycle) {
    std::vector<RepeatedSteps> turns;
    for (const RepeatedSteps& steps : blocks) {
        const std::optional<StepsAround> around = steps_around(program, steps, cycle);
        if (!around) continue;
        RepeatedSteps block = around->block;
        const std::size_t together =
            around->steps * std::bit_floor(std::max<std::size_t>(block.steps / around->steps / kTurns, 1));
        block.commands *= together;
        block.steps /= together;
        if (block.steps >= kTurnsWorthReuse) turns.push_back(block);
    }
    return turns;
}

}  // namespace systole::systolic
