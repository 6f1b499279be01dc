// SPDX-License-Identifier: Apache-2.0
// Computes small graphs in doubles, operator by operator, in the plainest way.
#pragma once

#include <vector>

#include "sim/workload/graph.h"

namespace systole::test {

using Numbers = std::vector<double>;

/// The elements of every tensor, row-major; of views, those of what they show. `given`: inputs and stored
/// tensors, by tensor. Collectives are those of one chip: they change nothing.
std::vector<Numbers> interpret(const Graph& graph, std::vector<Numbers> given);

}  // namespace systole::test
