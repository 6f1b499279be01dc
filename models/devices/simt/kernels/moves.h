// SPDX-License-Identifier: Apache-2.0
// Layers that bring elements to other places (lookups, concatenations, slices, caches), and those whose
// results need several elements of an operand that lie apart (cells, rotary embeddings), as kernels and maps
// from results to elements.
#pragma once

#include <optional>
#include <vector>

#include "models/devices/simt/kernels/operand_map.h"
#include "models/devices/simt/kernels/vector_kernel.h"
#include "sim/base/units.h"
#include "sim/workload/graph.h"

namespace systole::simt {

struct Move {
    struct From {
        TensorId tensor = 0;
        OperandMap map = {};
    };
    VectorKernel kernel;
    std::vector<From> from;      ///< of a lookup: indices, then the table, whose rows the kernel finds itself
    std::vector<OperandMap> to;  ///< where a result's values go; none: one behind the other
};

/// Whether layers of the kind are among these.
bool is_move(const Operator& op);

/// Nothing for other layers.
std::optional<Move> move_of(const Graph& graph, const Layer& layer);

/// Bytes of the tensor that the layer touches, each once: of a table its rows that are looked up, of a cache
/// its new rows, of what is sliced the slice; of others, all.
Bytes touched(const Graph& graph, const Layer& layer, TensorId tensor);

}  // namespace systole::simt
