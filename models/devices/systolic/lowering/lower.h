// SPDX-License-Identifier: Apache-2.0
// From a layer graph to a device program: allocation, tiling, double buffering, dependencies.
#pragma once

#include <vector>

#include "models/devices/systolic/lowering/mapping.h"
#include "models/devices/systolic/lowering/mapping_choice.h"
#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/device/device.h"
#include "sim/workload/allocation.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

struct Lowered {
    Program program;
    Mapping mapping;  ///< that was used: all matrix layers, and what stays in the scratchpad
    std::vector<Placement> placements;   ///< by tensor of the graph
    std::vector<Bytes> weights;          ///< by layer: its part of Program::compulsory_dram
    std::vector<MappingChoice> choices;  ///< of the layers that the mapper has mapped, if asked for
    LayerVariants variants;              ///< of the same layers, if asked for
};

struct LoweringOptions {
    bool runs_of_folds = true;         ///< where a machine allows it; off in tests that compare both
    const Mapping* mapping = nullptr;  ///< by hand
    bool choices = false;              ///< what the mapper weighed is wanted, too
    /// Mappings of layers instead of the mapper's own, where they fit and `mapping` has none.
    const LayerMappings* tried = nullptr;
    std::size_t most_variants = 1;  ///< of each layer in Lowered::variants; 1: none are wanted
    /// Of all matrix layers by whole name; nullptr: all in the machine's own.
    const LayerDataflows* dataflows = nullptr;
    int cores = 0;  ///< at work, the first so many; 0: lower() decides (cores_at_work.h)
};

/// Throws UserError when the graph cannot be mapped onto the machine: a dtype the matrix units lack (names
/// those they have), a tile that cannot fit, memories too small; each with the layer's place and name.
Lowered lower(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
              const LoweringOptions& options = {});
/// The same with tensors at given places, for a network that is a part of another; 0 cores are all.
Lowered lower_at(std::vector<Placement> placements, const Graph& graph, const SystolicSpec& spec,
                 const Protocol& protocol, const LoweringOptions& options = {});

}  // namespace systole::systolic
