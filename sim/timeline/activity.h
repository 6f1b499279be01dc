// SPDX-License-Identifier: Apache-2.0
// Bins of equal width over a run, and shares of whole numbers that sum to the whole: what activity and
// counters of a timeline are made of.
#pragma once

#include <vector>

#include "sim/timeline/timeline.h"

namespace systole {

/// Bins of a UnitActivity.
constexpr std::int64_t kActivityBins = 240;

/// Ends of `bins` bins that split [0, `end`) evenly, to the tick: the last is `end`. Some are empty where
/// there are more of them than ticks.
std::vector<Ticks> even_bins(Ticks end, std::int64_t bins = kActivityBins);

/// Cuts `whole` (at least 0) in proportion to `weights` (each at least 0): shares are whole, at least 0, sum
/// to `whole`, and each cumulated one is less than 1 below its exact value. The last weight that is not 0
/// takes what is left; without any, `whole` must be 0, a failed check otherwise.
std::vector<std::int64_t> shares_of(std::int64_t whole, const std::vector<Int128>& weights);

/// Adds `row` to `sum`, class by class.
void add_slots(ClassSlots& sum, const ClassSlots& row);

/// The class of most of these slots; of equals the first.
SlotClass most_of(const ClassSlots& slots);

/// Of all spans that have slots; of all bins.
ClassSlots slots_of(const std::vector<Span>& spans);
ClassSlots slots_of(const std::vector<UnitActivity>& activity);

/// Holds a timeline to the result that it is of: the slots of its accounting spans, and of its activity,
/// where there are any, must be those of the run, class by class. A failed check otherwise.
void check_accounts(const Timeline& timeline, const ClassSlots& run);

}  // namespace systole
