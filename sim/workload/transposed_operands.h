// SPDX-License-Identifier: Apache-2.0
// A network for machines that stream the first operand of a matrix product row by row: where it lies the
// other way round, a transpose is a layer of its own.
#pragma once

#include "sim/workload/graph.h"

namespace systole {

/// The network without matmul's transposed_a and with attention's Keys of turned scores: before the first
/// layer that takes an operand so stands a transpose, "LAYER.transposed", whose output the others take, too.
/// Blocks whose turns then differ in size are repeated ones no longer.
Graph transpose_operands(const Graph& graph);

}  // namespace systole
