// SPDX-License-Identifier: Apache-2.0
// Mappings judged by simulation (placement.trials): the mapper estimates how long a layer takes and cannot
// know how its units meet, or what the layer before it leaves behind. So several mappings of each matrix
// layer are run, many layers of the network at once, and each keeps the one with which it saved most.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/devices/systolic/lowering/mapping.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// Layers that share a mapping: a layer, all its parts of the batch, and its likes in the other turns of a
/// repeated block, but the first, whose inputs come from elsewhere.
struct LikeLayers {
    std::vector<std::size_t> layers;   ///< of the network
    std::vector<LayerMapping> to_try;  ///< at least one, the mapper's own, which is the first
};

/// Those that the mapper has mapped, in the order of the network.
std::vector<LikeLayers> like_layers(const Graph& graph, const LayerVariants& variants);

/// Cycles of a run, and of its layers, from the end of the one before to its own: they sum to the run's.
struct TrialTime {
    std::int64_t run = 0;
    std::vector<std::int64_t> layers;
};

/// Runs the network with the to_try[choice[i]] of the i-th LikeLayers. Nothing: it is refused.
using RunTrial = std::function<std::optional<TrialTime>(const std::vector<std::size_t>& choice)>;

struct Trials {
    int runs = 0, refused = 0;        ///< simulated; of these, refused
    std::vector<std::size_t> choice;  ///< of the fastest run
    std::int64_t own = 0, best = 0;   ///< cycles with the mapper's own mappings, and of the fastest run
};

/// Tries at most `most` mappings of each layer. A run has the t-th mapping of every second layer, for each t
/// two; what a layer saves is told from the cycles of it and of those behind it up to the next that is
/// changed, for what it leaves behind or brings forward is theirs. Behind these two a run has of each layer
/// the mapping that saved most so far. Of all runs the fastest counts, of equals the first, which is the
/// mapper's own: where memory decides, what one layer saves the next one waits for. So with more to try it is
/// never slower. `own`: what the mapper's own took; `blur`: cycles by which any two runs may be off, and by
/// which a run has to be faster to count as such.
Trials try_mappings(const std::vector<LikeLayers>& layers, TrialTime own, std::size_t most, std::int64_t blur,
                    const RunTrial& run);

/// The mappings of a choice, by the names of all layers that share them; those of the mapper's own are left
/// to it.
LayerMappings mappings_of(const Graph& graph, const std::vector<LikeLayers>& layers,
                          const std::vector<std::size_t>& choice);

}  // namespace systole::systolic
