// SPDX-License-Identifier: Apache-2.0
// Whether turns of repeated blocks, equal as they are in the network, are also mapped alike: only then may
// one of them stand for another.
#pragma once

#include <vector>

#include "models/devices/systolic/lowering/mapping.h"
#include "sim/workload/allocation.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// Whether in each block of `graph` all turns but the first have the same mapping by hand (`mapping`, if
/// there is one), layer by layer; and their tensors lie in the same memories, in the same layouts, but for
/// those of the last kLastTurns turns, which others read.
bool turns_mapped_alike(const Graph& graph, const std::vector<Placement>& placements, const Mapping* mapping);

}  // namespace systole::systolic
