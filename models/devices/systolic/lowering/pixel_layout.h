// SPDX-License-Identifier: Apache-2.0
// How the results of a phase of a transposed convolution lie in its output: every stride-th pixel of every
// stride-th row.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/systolic/lowering/staging.h"
#include "sim/workload/operators.h"

namespace systole::systolic {

/// Rows of M are the phase's pixels, image by image and row by row.
class PixelLayout {
public:
    PixelLayout(const ConvTranspose& op, const ConvPhase& rows, const ConvPhase& columns, DType dtype)
        : dtype_(dtype), op_(op), rows_(rows), columns_(columns) {}

    std::int64_t bytes(std::int64_t elements) const { return row_bytes(dtype_, elements).value(); }
    /// Pixels of a row of the phase.
    std::int64_t group() const { return columns_.out; }
    /// From a pixel to the next one's.
    std::int64_t step() const { return op_.stride * bytes(op_.out_c); }
    /// From a row to the next one's.
    std::int64_t pitch() const { return op_.stride * op_.out_w() * bytes(op_.out_c); }
    std::int64_t offset(std::int64_t item, std::int64_t pixel) const;
    /// Channels `channels` of pixels, and where they go in a tile that has nothing else.
    std::vector<StagedCopy> copies(std::int64_t item, Range pixels, Range channels) const;
    /// Pixels cut into whole rows of an image, and what is left before and behind them.
    std::vector<Range> pieces(Range pixels) const;

private:
    DType dtype_;
    ConvTranspose op_;
    ConvPhase rows_, columns_;
};

}  // namespace systole::systolic
