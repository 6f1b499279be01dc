// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/network_time.h"

#include <algorithm>
#include <vector>

#include "models/devices/systolic/lowering/dataflow_specs.h"
#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/lowering/mapped_turns.h"
#include "models/devices/systolic/lowering/placement.h"
#include "models/devices/systolic/lowering/program_time.h"
#include "sim/base/error.h"
#include "sim/workload/shorter_graph.h"

namespace systole::systolic {
namespace {

/// Turns of the shorter network, and those at its beginning in which what comes before the block may still
/// show.
constexpr std::size_t kFewTurns = 12, kFirstTurns = 4;
/// With fewer the whole network is as cheap.
constexpr std::size_t kManyTurns = 16;
/// Part of the time behind the block that may be another behind more turns: buffers go round, and it begins
/// at another of their places.
constexpr double kBlurBehind = 0.25;
/// Part of the whole time that may be another however alike turns are: one may differ that was left out.
constexpr double kLeastBlur = 0.01;

Program program_at(std::vector<Placement> placements, int cores, const Graph& graph, const SystolicSpec& spec,
                   const Protocol& protocol, const LayerDataflows* dataflows) {
    const LoweringOptions options{.dataflows = dataflows, .cores = cores};
    return lower_at(std::move(placements), graph, spec, protocol, options).program;
}

/// The only block with many turns; nullptr if there is none, or another.
const RepeatedBlock* block_of_many(const Graph& graph) {
    const RepeatedBlock* found = nullptr;
    for (const RepeatedBlock& block : graph.blocks) {
        if (block.turns < kManyTurns) continue;
        if (found) return nullptr;
        found = &block;
    }
    return found && turns_alike(graph, *found) ? found : nullptr;
}

/// The time of a network whose layers end so, with `more` turns of the block. Its last turns, behind which
/// others begin, tell nothing of those before.
BlurredTime with_turns(const std::vector<double>& ends, const RepeatedBlock& block, std::size_t more) {
    const auto end_of = [&](std::size_t turn) {
        const auto first =
            ends.begin() + static_cast<std::ptrdiff_t>(block.first_layer + turn * block.layers);
        return *std::max_element(first, first + static_cast<std::ptrdiff_t>(block.layers));
    };
    const std::size_t last = block.turns - kLastTurns - 1;
    const double mean =
        (end_of(last) - end_of(kFirstTurns - 1)) / static_cast<double>(last + 1 - kFirstTurns);
    const double end = *std::ranges::max_element(ends), behind = end - end_of(block.turns - 1);
    const double cycles = end + static_cast<double>(more) * mean;
    return {cycles, std::max(kBlurBehind * behind, kLeastBlur * cycles)};
}

}  // namespace

std::optional<double> network_time(int cores, const Graph& graph, const SystolicSpec& spec,
                                   const Protocol& protocol, const LayerDataflows* dataflows) {
    try {
        const DataflowSpecs specs(graph, spec, dataflows);
        return estimated_cycles(program_at(place_tensors(graph, specs, protocol, nullptr, cores), cores,
                                           graph, spec, protocol, dataflows),
                                spec, cores);
    } catch (const UserError&) {
        return std::nullopt;
    }
}

std::optional<BlurredTime> network_time_by_turns(int cores, const Graph& graph, const SystolicSpec& spec,
                                                 const Protocol& protocol, const LayerDataflows* dataflows) {
    const RepeatedBlock* const block = block_of_many(graph);
    if (!block) return std::nullopt;
    try {
        const std::vector<Placement> placements =
            place_tensors(graph, DataflowSpecs(graph, spec, dataflows), protocol, nullptr, cores);
        if (!turns_mapped_alike(graph, placements, nullptr)) return std::nullopt;
        std::vector<std::size_t> left;
        for (const RepeatedBlock& each : graph.blocks)
            left.push_back(&each == block ? kFewTurns : each.turns);
        const ShorterGraph shorter = shorten(graph, left);
        std::vector<Placement> own;
        for (const TensorId tensor : shorter.whole) own.push_back(placements[tensor]);
        const std::vector<double> ends = estimated_ends(
            program_at(std::move(own), cores, shorter.graph, spec, protocol, dataflows), spec, cores);
        return with_turns(ends, shorter.graph.blocks[static_cast<std::size_t>(block - graph.blocks.data())],
                          block->turns - kFewTurns);
    } catch (const UserError&) {
        return std::nullopt;
    }
}

}  // namespace systole::systolic
