// SPDX-License-Identifier: Apache-2.0
// What one array did, clock by clock: every register of every PE, what left the columns, the accumulators,
// and the PE-cycles by what they were spent on. The dataflow explorer draws it and computes nothing.
//
// A PE-cycle is `useful` (a product of real operands), `padding` (a product beyond the tile's edge), `ramp`
// (no product here while the array holds one, takes a tile in or shifts outputs out: fill, drain, shift), or
// waiting (nothing moves in the array).
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/systolic/mxu/dataflow.h"
#include "sim/base/units.h"

namespace systole::systolic {

/// A fold of a pass: `vectors` vectors of its block stream through the array, one PE further a clock. The
/// n-th vector that a PE multiplies is the n-th of all passes in order.
struct RecordedPass {
    std::int64_t clock = 0;   ///< in which its first vector entered PE(0,0)
    std::int64_t vector = 0;  ///< how many vectors of passes before have entered there
    std::int64_t layer = 0, batch = 0;
    std::int64_t m0 = 0, k0 = 0, n0 = 0;  ///< the block's first row, element of K and column
    std::int64_t m = 0, k = 0, n = 0;     ///< its extents
    Dataflow dataflow = Dataflow::WeightStationary;
    bool new_tile = true;  ///< it brings a tile; otherwise that of the pass before stays in the array
};

/// An accumulator was written: its sum can be read from this clock on.
struct RecordedSum {
    std::int64_t clock = 0;
    std::int32_t row = 0, col = 0, value = 0;
};

/// PE-cycles of one clock; what is left of the array waits.
struct PeCycles {
    std::int32_t useful = 0, padding = 0, ramp = 0;
};

struct ArrayRecording {
    int rows = 0, cols = 0;
    /// PEs have a second register for the next tile; a register for outputs on their way out.
    bool has_shadow = false, has_result = false;
    std::int64_t first = 0;  ///< clock from which registers are kept
    std::int64_t end = 0;    ///< the clock after the last

    /// Clocks at which registers were written down, ascending: all of those in which a vector is multiplied,
    /// and of the others those in which something changed. They hold until the next.
    std::vector<std::int64_t> frames;
    /// By frame, row and column.
    std::vector<std::int32_t> moving, stationary, shadow, sum, result;
    /// By frame, row and column: 0 no product, 1 padding, 2 useful.
    std::vector<std::int32_t> work;
    /// By frame and column: the sum that leaves; whether one does; whether a tile (os: outputs) shifts.
    std::vector<std::int32_t> leaving, leaves, shifting;

    /// By row and column: vectors that the PE has multiplied before `first`.
    std::vector<std::int32_t> vectors_before;

    std::vector<RecordedSum>
        accumulators;  ///< those written before `first`, at `first` - 1; then every write, by clock
    std::vector<RecordedPass> passes;  ///< from clock 0 on
    std::vector<PeCycles> clocks;      ///< of clocks 0 to `end`
};

}  // namespace systole::systolic
