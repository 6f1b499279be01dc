// SPDX-License-Identifier: Apache-2.0
// The Pareto front: points that no other is at least as good as in everything, and better in something.
#pragma once

#include <cstddef>
#include <vector>

namespace systole::sweep {

/// `costs[i]`: of point i, one for each objective, less is better; all of equal length. Whether each point is
/// on the front; of equal points all are. Takes n log n for up to three objectives, n x front for more.
std::vector<bool> pareto_front(const std::vector<std::vector<double>>& costs);

}  // namespace systole::sweep
