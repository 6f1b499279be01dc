// SPDX-License-Identifier: Apache-2.0
// Where tensors lie in memory, and which of a layer's operands are weights.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/workload/allocation.h"

namespace systole::simt {

/// Where places begin: in all channels alike.
std::int64_t alignment(const SimtSpec& spec);

/// Where a network's tensors lie: by tensor, and where what kernels leave for each other begins, in bytes.
struct PlacedTensors {
    std::vector<Placement> placements;
    std::int64_t end = 0;
};

/// Operands of kernels lie as MatrixPlace says: there is nothing to tile here. Throws UserError for a network
/// that does not fit into the memory.
PlacedTensors place_tensors(const Graph& graph, const SimtSpec& spec);

/// As results have them.
std::vector<TensorPlace> places(const Graph& graph, const std::vector<Placement>& placements);

/// Adds to the plan and to its layers what is stored in the memory and passes once; of a table that only
/// lookups read, the rows that they meet. `rows`: by layer of the graph, its number in the plan.
void add_stored(const Graph& graph, const std::vector<std::size_t>& rows, ChipPlan& chip);

/// Where the layer's kernels read weights.
std::vector<MatrixPlace*> weights_of(LayerPlan& layer);

}  // namespace systole::simt
