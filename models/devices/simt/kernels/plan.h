// SPDX-License-Identifier: Apache-2.0
// From a network to kernels: what each layer becomes, and where its operands lie.
#pragma once

#include <string>

#include "models/devices/simt/kernels/choose.h"
#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/kernels/plan_places.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/device/device.h"
#include "sim/workload/graph.h"

namespace systole::simt {

/// The network with what joins products as their epilogues. Throws UserError at its mark for a layer that
/// this kind does not run yet.
Graph fused_network(const Graph& graph, const SimtSpec& spec);

/// Of a fused network whose tensors lie there.
ChipPlan plan_at(const PlacedTensors& placed, const Graph& fused, const SimtSpec& spec,
                 const Protocol& protocol, KernelChooser& chooser);

/// All of it. Throws UserError at its mark for a layer that this kind does not run yet, and for a network
/// that does not fit into the memory. `chooser`: of the same spec; it remembers tiles from plan to plan.
ChipPlan plan(const Graph& graph, const SimtSpec& spec, const Protocol& protocol, KernelChooser& chooser);

/// Of the layers' kernels, a line each with what it does.
std::string to_text(const ChipPlan& plan, const SimtSpec& spec);

}  // namespace systole::simt
