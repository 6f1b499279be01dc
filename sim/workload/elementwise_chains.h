// SPDX-License-Identifier: Apache-2.0
// Elementwise layers that one pass over their operands can do: what lies between them is never written.
#pragma once

#include <vector>

#include "sim/workload/graph.h"

namespace systole {

/// `layers` layers from number `first` on, two at least: activations and elementwise layers without slopes,
/// of which each reads, once and as a whole, what the one before made, which has the dtype of its operands
/// and is read by nobody else and not asked for from outside.
struct ElementwiseChain {
    std::size_t first = 0, layers = 0;
    friend bool operator==(const ElementwiseChain&, const ElementwiseChain&) = default;
};

/// Of layers that read more than so many tensors from outside there is no chain.
constexpr int kMostChainOperands = 8;

/// The longest ones, in the order of the layers.
std::vector<ElementwiseChain> elementwise_chains(const Graph& graph);

}  // namespace systole
