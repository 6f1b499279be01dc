// SPDX-License-Identifier: Apache-2.0
// How long an array takes when nothing is in its way: every tile there when it is wanted, a vector every
// `each` cycles. In closed form, as a sum with the numbers put in, and by the tile engine; the two are held
// to each other wherever a formula is made, so that what is printed cannot drift from what is simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/devices/systolic/explain/array_work.h"

namespace systole::systolic {

/// "2R + C + T - 2", "2 x 4 + 4 + 6 - 2", 16.
struct Formula {
    std::string symbols, numbers;
    std::int64_t cycles = 0;
};

/// Whether what leaves or enters through the PEs takes R cycles of its own: tiles that are shifted in (ws,
/// is), results that are shifted out (os with `result_shift`).
bool shifts(const ArraySpec& array);

/// Cycles from the first movement of one pass of T vectors on an idle array to its last result.
Formula alone(const ArraySpec& array, std::int64_t vectors, std::int64_t each = 1);
/// Cycles from the start of a pass to that of the next, when equal passes with a tile each follow each other.
Formula back_to_back(const ArraySpec& array, std::int64_t vectors, std::int64_t each = 1);
/// All passes of one unit, in order, from the first movement to the last result, but for the waits of K folds
/// for the accumulators' latency.
Formula all_passes(const ArraySpec& array, const std::vector<ArrayPass>& passes);

/// Sends the passes through the tile engine as early as it allows and gives the times of each, in order.
/// Answers those of the last. At least one pass.
PassTimes send_through(const ArraySpec& array, const std::vector<ArrayPass>& passes,
                       const std::function<void(const PassTimes&)>& each = {});

/// The time of one unit's passes.
struct UnitTime {
    Formula formula;
    std::int64_t accumulator_waits = 0;  ///< cycles that K folds wait for sums on their way
    std::int64_t cycles() const { return formula.cycles + accumulator_waits; }
};
/// No passes: zero.
UnitTime unit_time(const ArraySpec& array, const std::vector<ArrayPass>& passes);

}  // namespace systole::systolic
