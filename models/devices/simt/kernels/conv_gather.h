// SPDX-License-Identifier: Apache-2.0
// Implicit GEMM: rows of A are output pixels, its columns filter taps x channels, and none of it lies in
// memory: each step along K gathers the pixels under one tap, a slice of channels of each, out of the feature
// map. As CUTLASS's Conv2dFpropActivationTileAccessIteratorOptimized goes: taps of a slice one behind the
// other, then the next slice, whose last may be shorter than a step. Of maps with so few channels that a load
// of 16 bytes holds them all (IteratorAlgorithm::kFixedChannels) a step takes several taps.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "sim/base/units.h"
#include "sim/workload/operators.h"

namespace systole::simt {

/// Taps and channels that a step takes, and the columns of A (rows of B) that these are.
struct GatherStep {
    std::int64_t tap = 0, taps = 1;          ///< number r * kernel_w + s of the first one
    std::int64_t channel = 0, channels = 1;  ///< the first one, and how many of each tap
    std::int64_t k_begin = 0, k = 1;
};

/// Pixels of the map, image behind image, row behind row; where windows move by more than a pixel and steps
/// take one tap, those that one tap meets lie together: of rows and columns every stride-th, from each of the
/// first ones on.
struct PixelRange {
    std::int64_t begin = 0, end = 0;  ///< from the first to behind the last that are loaded
    /// Loaded ones: fewer, where some lie between them that others load; more, where several taps load the
    /// same.
    std::int64_t loaded = 0;
};

struct ConvGather {
    std::int64_t in_h = 1, in_w = 1, out_h = 1, out_w = 1;  ///< of each image
    std::int64_t images = 1;
    std::int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
    std::int64_t top = 0, left = 0;  ///< rows and columns of zeros, which are not loaded
    std::int64_t channels = 1;       ///< of a group
    std::int64_t stored = 1;  ///< of a pixel of the group in memory: with those that loads are padded to
    bool packed = false;      ///< a step takes several taps

    std::int64_t taps() const { return kernel_h * kernel_w; }
    std::int64_t in_pixels() const { return images * in_h * in_w; }
    /// Pixels that a tap meets lie together (PixelRange).
    bool apart() const { return !packed && (stride_h > 1 || stride_w > 1); }
    std::int64_t steps(std::int64_t tile_k) const;
    GatherStep step(std::int64_t number, std::int64_t tile_k) const;
    /// Columns of A in all steps before that one; up to all of them.
    std::int64_t k_before(std::int64_t step, std::int64_t tile_k) const;
    /// What rows [first, first + count) of A load for a step.
    PixelRange pixels(std::int64_t first, std::int64_t count, const GatherStep& step) const;
    /// Of windows of `count` output pixels one behind the other, what their row `row` meets: of each row of
    /// the map every pixel once.
    PixelRange window_row(std::int64_t first, std::int64_t count, std::int64_t row) const;
    friend auto operator<=>(const ConvGather&, const ConvGather&) = default;

private:
    void add_row(std::int64_t row, std::int64_t begin, std::int64_t end, const GatherStep& step, bool apart,
                 PixelRange& range) const;
    std::int64_t number_of(std::int64_t image, std::int64_t y, std::int64_t x, bool apart) const;
};

/// Windows of a convolution as they are, one group's channels each.
ConvGather windows_of(const Conv2d& conv);
/// Those of a pool.
ConvGather windows_of(const Pool& pool);

/// Which elements of a map a library's kernels load at a time.
struct GatherLoads {
    std::int64_t elements = 1;     ///< channels of a pixel in one load: pixels are padded to whole ones
    std::int64_t most_packed = 0;  ///< channels of a pixel of which a step takes several taps, at most
};

/// A load of 16 bytes, which may hold a whole pixel.
GatherLoads loads_of(std::int64_t element_bits);

/// How a convolution gathers; nothing where it need not: of one
/// group, windows of one pixel (every stride-th: others are never read) are a matrix as they are.
std::optional<ConvGather> gather_of(const Conv2d& conv, const GatherLoads& loads);

}  // namespace systole::simt
