// SPDX-License-Identifier: Apache-2.0
// A network simulated on its machine: lowered, run as a whole or with few of its equal turns, and, where the
// machine asks for it, with several mappings of each layer, of which the fastest counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/account/run_result.h"
#include "sim/account/turn_agreement.h"
#include "sim/device/device.h"
#include "sim/workload/allocation.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// Runs a program. `fault`: the first wrong sum, on machines that compute values.
RunOutcome execute(const Program& program, const SystolicSpec& spec, const RunOptions& options,
                   std::optional<std::string>& fault);

/// A network as the machine runs it: joined, sliced.
Graph prepared(const Graph& asked, const SystolicSpec& spec, const Protocol& protocol,
               const Mapping* mapping);

/// A network where it lies in a machine's memories. Refers to all but its places.
struct PlacedNetwork {
    const Graph& graph;  ///< as the machine runs it: joined, sliced
    const SystolicSpec& spec;
    const Mapping* mapping = nullptr;           ///< by hand
    const LayerDataflows* dataflows = nullptr;  ///< of layers, where not all have the machine's own
    int cores = 0;                              ///< at work
    std::vector<Placement> placements;
};
/// Throws UserError where it does not fit.
PlacedNetwork place_network(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
                            const Mapping* mapping, const LayerDataflows* dataflows);

struct NetworkRun {
    RunOutcome outcome;      ///< without tensors and mapping; parts of the batch are rows of their own
    Mapping used;            ///< of those layers that were simulated
    LayerVariants variants;  ///< of the same layers, if asked for
    /// Where some turns of blocks stand for others: layers of the longest network that was simulated.
    std::optional<std::size_t> few_layers = {};
    TurnRule rule = {};  ///< by which they do
};
/// `tried`: mappings instead of the mapper's own, where they fit; `most_variants` of each layer are listed.
/// Throws UserError when it cannot run so.
NetworkRun run_network(const PlacedNetwork& network, const RunOptions& options, const LayerMappings& tried,
                       std::size_t most_variants);

/// How many mappings of a layer may be tried: placement.trials, or what stands for 0 of it.
int most_trials(const Graph& graph, const PlacementSpec& placement);

/// The fastest of several runs.
struct TriedNetwork {
    NetworkRun fastest;
    LayerMappings mappings;  ///< with which it is so, where these are not the mapper's own
};
/// Tries most_trials() mappings of each layer that is not mapped by hand (mapping_trials.h), unless that many
/// were not asked for and take long, and says so among the choices of the result.
TriedNetwork try_network(const PlacedNetwork& network, const RunOptions& options);

}  // namespace systole::systolic
