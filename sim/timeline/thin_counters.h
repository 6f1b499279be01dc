// SPDX-License-Identifier: Apache-2.0
// Counters with fewer samples than they have.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/timeline/timeline.h"

namespace systole {

/// Neighbouring samples become one with their mean over time (of the last, which holds until `end`, too),
/// pair by pair, until all counters together have `most` at most, or each has one. Means over time stay.
std::vector<CounterTrack> thin_counters(std::vector<CounterTrack> counters, std::size_t most, Ticks end);

}  // namespace systole
