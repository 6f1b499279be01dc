// SPDX-License-Identifier: Apache-2.0
// Which part of a layer each core of a chip does. An even share is a part of equal size of all activations of
// the layer, byte by byte: the first core the first bytes of each, the last core the last. Layers that are
// shared evenly can hand their results on inside each core's scratchpad.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/devices/systolic/lowering/range.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// A core, of how many.
struct CoreShare {
    int index = 0, count = 1;

    /// Its part of so many units that are dealt evenly, in order; the first cores have one more where the
    /// units do not divide.
    Range of(std::int64_t units) const;
};

/// What of a matrix operator cores deal: nothing (the first core does all of it), rows, columns, or batch
/// items.
enum class CoreSplit : std::uint8_t { None, M, N, Items };
/// "none", "m", "n", "batch".
std::string_view to_string(CoreSplit split);
/// All of them, in the order of the enum.
const std::vector<std::string>& core_splits();

/// Equal, independent parts of which an operator's activations, inputs and output, consist alike, one behind
/// the other in memory (images of a convolution, rows of a softmax): what can be shared evenly. 0: none are
/// known.
std::int64_t even_parts(const Operator& op);
/// Whether that many cores can share the operator evenly.
bool shares_evenly(const Operator& op, int cores);
/// Whether cores that share a matrix layer's rows, each with all of its weights, would read more from memory
/// than cores that share its columns, for whom the activations go through memory.
bool gains_by_columns(const Graph& graph, const Layer& layer, int cores);
/// By tensor: activations that some layer writes or reads which is better not shared evenly, or cannot be.
std::vector<bool> not_shared_evenly(const Graph& graph, int cores);

}  // namespace systole::systolic
