// SPDX-License-Identifier: Apache-2.0
// A network in which elementwise work is done while results of a matrix product leave for memory: the layer
// joins its producer, and the tensor between them is never written.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/workload/graph.h"

namespace systole {

/// An elementwise layer and the matmul or conv2d that it can join: of its two operands the one that is
/// produced last, read by nobody else, not asked for from outside, and of its own shape.
struct Fusion {
    std::size_t producer = 0, elementwise = 0;  ///< layers
    friend bool operator==(const Fusion&, const Fusion&) = default;
};

/// All that can be done, by producer; each producer is joined once. In a repeated block only those that can
/// be done in every turn alike.
std::vector<Fusion> possible_fusions(const Graph& graph);

/// The network with `fusions`, of possible_fusions(): the producer has the name that it had, one operand more
/// (Layer::joined), and the output of the elementwise layer.
Graph fuse(const Graph& graph, const std::vector<Fusion>& fusions);

}  // namespace systole
