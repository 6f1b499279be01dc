// SPDX-License-Identifier: Apache-2.0
// Which elementwise work is done while results of a matrix product leave (placement.fuse).
#pragma once

#include <string>
#include <vector>

#include "models/devices/systolic/lowering/mapping.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// The network as the machine runs it: with the fusions that `mapping` names; where it names none, with all
/// that are possible if the machine fuses, for each spares the way of a tensor to memory and back. Throws
/// UserError for fusions that are not possible, and tensors that then do not exist.
Graph fused_graph(const Graph& graph, const SystolicSpec& spec, const Mapping* mapping);

/// The elementwise layers that have joined others.
std::vector<std::string> joined_layers(const Graph& graph);

}  // namespace systole::systolic
