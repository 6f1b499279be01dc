// SPDX-License-Identifier: Apache-2.0
// A network without most of the turns of its repeated blocks: thirty-two equal layers of a transformer need
// not all be simulated.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/workload/graph.h"

namespace systole {

/// The last turns of a block are always kept: what comes behind the block runs beside them.
constexpr std::size_t kLastTurns = 2;

/// Whether every turn but the first does what the one before it did, reading tensors of its own, of the turn
/// before it, or the same from before the block; and nobody else reads another turn than the last.
bool turns_alike(const Graph& graph, const RepeatedBlock& block);

struct ShorterGraph {
    Graph graph;                  ///< names are those of the whole graph's turns that are left
    std::vector<TensorId> whole;  ///< by tensor: its id in the whole graph
};

/// Of each block of `graph` so many turns are left, at least three of a block that loses some, whose turns
/// must be alike: the first ones and the last kLastTurns.
ShorterGraph shorten(const Graph& graph, const std::vector<std::size_t>& turns);

}  // namespace systole
