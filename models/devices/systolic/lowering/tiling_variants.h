// SPDX-License-Identifier: Apache-2.0
// What else a matrix operator could be cut into: tilings that the estimate cannot tell from the best, as
// different from each other as can be, for a simulation to judge. The estimate knows how much each unit does
// and not how units meet; it errs alike for tilings that are alike.
#pragma once

#include <cstddef>
#include <vector>

#include "models/devices/systolic/lowering/tiling.h"

namespace systole::systolic {

/// By how much the estimate may be wrong between two tilings of one operator. `assumed`: of the tilings of 50
/// small layers (bench_mapper_quality, seed 1) the fastest was estimated at no more than 1.18 of the least
/// estimate, but for one at 1.39; plausible 0.15 ... 0.4.
constexpr double kDoubt = 0.25;

/// `chosen`, and behind it at most `most` - 1 others of at most 1 + kDoubt of its estimated time. Next comes
/// the one of least estimate, to which the share of traits that it has in common with the likest one before
/// it adds up to kDoubt. Traits: which units share it, rows, columns and depth of a block (alike if less than
/// a fifth apart), and the nesting of loops, where there are two to nest. One that is alike in all traits to
/// one before it is left out.
std::vector<Tiling> tiling_variants(const TilingRequest& request, const Tiling& chosen, std::size_t most);

}  // namespace systole::systolic
