// SPDX-License-Identifier: Apache-2.0
// Where the tensors of a network lie: which memory, which address, which activations stay in the scratchpad.
#pragma once

#include <string>
#include <vector>

#include "models/devices/systolic/lowering/dataflow_specs.h"
#include "models/devices/systolic/lowering/mapping.h"
#include "sim/device/device.h"
#include "sim/workload/allocation.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// Where every tensor lies. Throws UserError where they do not fit into the machine's memories.
/// `mapping`, if there is one, says what stays in the scratchpad where the machine leaves that open. `cores`:
/// at work, which share resident tensors evenly; 0: all. `protocol` says where outputs have to be in the end.
std::vector<Placement> place_tensors(const Graph& graph, const DataflowSpecs& specs, const Protocol& protocol,
                                     const Mapping* mapping = nullptr, int cores = 0);

/// The activations that stay in the scratchpad.
std::vector<std::string> residents(const Graph& graph, const std::vector<Placement>& placements);

}  // namespace systole::systolic
