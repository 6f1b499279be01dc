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

/// Operands of kernels lie as MatrixPlace says: there is nothing to tile here.
std::vector<Placement> place_tensors(const Graph& graph, const SimtSpec& spec);

/// Where the layer's kernels read weights.
std::vector<MatrixPlace*> weights_of(LayerPlan& layer);

}  // namespace systole::simt
