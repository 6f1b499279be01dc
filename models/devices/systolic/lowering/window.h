// SPDX-License-Identifier: Apache-2.0
// Sliding windows over a feature map (NHWC): which output pixels form a block, which input rows it covers
// with its halo, and how those lie once staged, with room for the zero padding. Convolution, depthwise
// convolution and pooling share it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/devices/systolic/lowering/staging.h"

namespace systole::systolic {

/// Output pixels [images x rows x cols): several whole images, or whole rows of one image, or part of one
/// row.
struct WindowBlock {
    std::int64_t image = 0, images = 1, p = 0, rows = 1, q = 0, cols = 1;
    std::int64_t pixels() const { return images * rows * cols; }
};

/// A block's input, staged: `rows` rows of `pitch` bytes per image. Row i of an image is input row
/// top + i * row_step, column j is input column left + j; what lies outside the input is padding.
struct StagedWindow {
    std::int64_t top = 0, left = 0, rows = 0, cols = 0, row_step = 1;
    std::int64_t pitch = 0, image_pitch = 0, bytes = 0;  ///< bytes: max() when beyond 64 bits
    std::int64_t p_stride = 0;  ///< bytes between the windows of successive output rows
};

struct WindowGeometry {
    std::int64_t batch = 1, in_h = 1, in_w = 1;
    std::int64_t pixel_bytes = 1;  ///< all channels of a pixel, padded to whole bytes
    std::int64_t kernel_h = 1, kernel_w = 1, stride = 1, pad = 0, dilation = 1;
    std::int64_t out_h = 1, out_w = 1;
    std::optional<std::int64_t> pad_left = {};  ///< where that is not `pad`, too

    std::int64_t left() const { return pad_left.value_or(pad); }
    std::int64_t row_pitch() const { return in_w * pixel_bytes; }
    std::int64_t image_bytes() const { return in_h * row_pitch(); }

    /// The largest legal block of at most `pixels` pixels, evened out so that the last one is not a sliver.
    WindowBlock block_shape(std::int64_t pixels) const;
    std::int64_t block_count(const WindowBlock& shape) const;
    /// All blocks of that shape (smaller at the edges), in the order of their pixels.
    std::vector<WindowBlock> cut(const WindowBlock& shape) const;
    std::int64_t first_pixel(const WindowBlock& b) const { return (b.image * out_h + b.p) * out_w + b.q; }

    StagedWindow staged(const WindowBlock& block) const;
    /// One descriptor for all images where the rows line up, otherwise one for each.
    std::vector<StagedCopy> copies(const WindowBlock& block, const StagedWindow& staged) const;
    /// Bytes of the tensor from the first to the last input row that the block covers.
    Range extent(const WindowBlock& block) const;
    /// Bytes of the input that any window covers: what has to be read at least once.
    std::int64_t covered_bytes() const;
};

}  // namespace systole::systolic
