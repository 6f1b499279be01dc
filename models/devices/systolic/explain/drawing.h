// SPDX-License-Identifier: Apache-2.0
// An array and its passes drawn in plain characters, at most 100 columns wide: what lies in the PEs and what
// comes from where, one pass PE by PE and cycle by cycle, and passes one behind the other.
#pragma once

#include <string>
#include <vector>

#include "models/devices/systolic/explain/array_work.h"

namespace systole::systolic {

/// Arrays of at most this many rows and columns are drawn PE by PE.
constexpr int kPesInFull = 4;

/// Half-open.
struct Interval {
    Cycles begin, end;
    bool meets(const Interval& other) const { return begin < other.end && other.begin < end; }
};

/// What a PE does in a pass of one vector a cycle: vector t is multiplied in cycle start + t + row + col; a
/// tile is shifted in, or results are shifted out, column by column, one cycle later each.
struct PeTimes {
    Interval multiplies;
    Interval moves;  ///< its part in the shift; empty: there is none
};
PeTimes pe_times(const ArraySpec& array, const PassTimes& times, int row, int col);

/// The array with its edges: the element of the stationary operand in each PE (of a large array, its
/// corners), what enters from the left and from above, what leaves below.
std::string draw_array(const ArraySpec& array);

/// One pass alone: every PE of a small array, the diagonal of a large one with several cycles a character.
std::string draw_pass(const ArraySpec& array, const PassTimes& times, std::int64_t each = 1);

/// Passes one behind the other: shifts, streams and drains as bars.
std::string draw_passes(const ArraySpec& array, const std::vector<PassTimes>& passes);

}  // namespace systole::systolic
