// SPDX-License-Identifier: Apache-2.0
// What of a network is one row of a GPU's result, a layer of its plan: not always one layer.
#pragma once

#include <cstddef>
#include <vector>

#include "models/devices/simt/spec/spec.h"
#include "sim/account/joined_rows.h"
#include "sim/workload/graph.h"

namespace systole::simt {

/// Of a fused network, how many layers, one behind the other, are each row: chains of elementwise layers,
/// values and indices of one top-k, what prepares attention, and mostly one. Their sum is the number of
/// layers.
std::vector<std::size_t> layers_of_rows(const Graph& fused, const KernelsSpec& kernels);

/// The layers of `graph`, fused as `fused`, that are done in the row of another one, and rows for parts of
/// one.
Joins joins_of(const Graph& graph, const Graph& fused, const KernelsSpec& kernels);

}  // namespace systole::simt
