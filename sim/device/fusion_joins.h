// SPDX-License-Identifier: Apache-2.0
// Elementwise layers that a device may do in the row of the product before them.
#pragma once

#include "sim/account/joined_rows.h"
#include "sim/workload/graph.h"

namespace systole {

/// All that can be (possible_fusions()).
Joins fusion_joins(const Graph& graph);

}  // namespace systole
