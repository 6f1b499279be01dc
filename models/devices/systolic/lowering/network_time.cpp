// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/network_time.h"

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

/// Turns of the two shorter networks: in the first ones what comes before the block still shows.
constexpr std::size_t kFewTurns = 5, kMoreTurns = 8;
/// With fewer the whole network is as cheap.
constexpr std::size_t kManyTurns = 16;

double time_at(std::vector<Placement> placements, int cores, const Graph& graph, const SystolicSpec& spec,
               const Protocol& protocol, const LayerDataflows* dataflows) {
    const LoweringOptions options{.dataflows = dataflows, .cores = cores};
    return estimated_cycles(lower_at(std::move(placements), graph, spec, protocol, options).program, spec,
                            cores);
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

}  // namespace

std::optional<double> network_time(int cores, const Graph& graph, const SystolicSpec& spec,
                                   const Protocol& protocol, const LayerDataflows* dataflows) {
    try {
        const DataflowSpecs specs(graph, spec, dataflows);
        return time_at(place_tensors(graph, specs, nullptr, cores), cores, graph, spec, protocol, dataflows);
    } catch (const UserError&) {
        return std::nullopt;
    }
}

std::optional<double> network_time_by_turns(int cores, const Graph& graph, const SystolicSpec& spec,
                                            const Protocol& protocol, const LayerDataflows* dataflows) {
    const RepeatedBlock* const block = block_of_many(graph);
    if (!block) return std::nullopt;
    try {
        const std::vector<Placement> placements =
            place_tensors(graph, DataflowSpecs(graph, spec, dataflows), nullptr, cores);
        if (!turns_mapped_alike(graph, placements, nullptr)) return std::nullopt;
        const auto time_with = [&](std::size_t turns) {
            std::vector<std::size_t> left;
            for (const RepeatedBlock& each : graph.blocks)
                left.push_back(&each == block ? turns : each.turns);
            const ShorterGraph shorter = shorten(graph, left);
            std::vector<Placement> own;
            for (const TensorId tensor : shorter.whole) own.push_back(placements[tensor]);
            return time_at(std::move(own), cores, shorter.graph, spec, protocol, dataflows);
        };
        const double few = time_with(kFewTurns), more = time_with(kMoreTurns);
        return few + (more - few) / static_cast<double>(kMoreTurns - kFewTurns) *
                         static_cast<double>(block->turns - kFewTurns);
    } catch (const UserError&) {
        return std::nullopt;
    }
}

}  // namespace systole::systolic
