// SPDX-License-Identifier: Apache-2.0
// Shifts along the columns (a tile coming in, results going out) start in column 0 and in every further
// column one cycle later: neighbouring columns are one step apart. A run of such columns moves row by row as
// a whole piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace systole {

/// The step of a column that no shift is in.
constexpr std::int32_t kNoStep = -1;

/// Columns first … last; column j is in step - (j - first).
struct ColumnRun {
    int first, last;
    std::int32_t step;

    /// The columns that are in `least` or a later step are first … (this - 1).
    int end_from(std::int32_t least) const { return std::min(last, first + (step - least)) + 1; }
};

/// The runs of `steps` (one per column), from left to right, into `runs`.
inline void find_runs(const std::vector<std::int32_t>& steps, std::vector<ColumnRun>& runs) {
    runs.clear();
    for (int col = 0; col < std::ssize(steps); ++col) {
        if (steps[col] == kNoStep) continue;
        const bool follows = !runs.empty() && runs.back().last == col - 1 && steps[col] == steps[col - 1] - 1;
        if (follows)
            runs.back().last = col;
        else
            runs.push_back({col, col, steps[col]});
    }
}

}  // namespace systole
