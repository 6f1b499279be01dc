// SPDX-License-Identifier: Apache-2.0
// Sliding windows over a feature map (NHWC) or volumes (NDHWC): which output pixels form a block, which input
// rows it covers with its halo, and how those lie once staged, with room for the zero padding. Convolution,
// depthwise convolution and pooling share it. An image is a slice of a volume, too.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/devices/systolic/lowering/staging.h"
#include "sim/workload/operators.h"

namespace systole::systolic {

/// Output pixels [images x rows x cols): several whole images, or whole rows of one image, or part of one
/// row. Images of several volumes are together only where each has one.
struct WindowBlock {
    std::int64_t image = 0, images = 1, p = 0, rows = 1, q = 0, cols = 1;
    std::int64_t pixels() const { return images * rows * cols; }
};

/// A block's input, staged: `slices` slices per volume (one of an image), of `rows` rows of `pitch` bytes.
/// Slice h of a volume is input slice front + h * slice_step, row i is input row top + i * row_step, column j
/// is input column left + j; what lies outside the input is padding.
struct StagedWindow {
    std::int64_t front = 0, top = 0, left = 0;
    std::int64_t slices = 1, rows = 0, cols = 0;
    std::int64_t slice_step = 1, row_step = 1;
    std::int64_t pitch = 0, slice_pitch = 0, bytes = 0;  ///< bytes: max() when beyond 64 bits
    /// Bytes between the windows of successive output rows, and images.
    std::int64_t p_stride = 0, image_stride = 0;
};

struct WindowGeometry {
    std::int64_t batch = 1, in_h = 1, in_w = 1;
    std::int64_t pixel_bytes = 1;  ///< all channels of a pixel, padded to whole bytes
    std::int64_t kernel_h = 1, kernel_w = 1, stride = 1, pad = 0, dilation = 1;
    std::int64_t out_h = 1, out_w = 1;
    ConvDepth depth = {};    ///< of volumes
    std::int64_t out_d = 1;  ///< images that come out of a volume
    /// Across, where that is not `pad`, `stride` or `dilation`, too.
    std::optional<std::int64_t> pad_left = {}, stride_across = {}, dilation_across = {};

    std::int64_t left() const { return pad_left.value_or(pad); }
    std::int64_t stride_w() const { return stride_across.value_or(stride); }
    std::int64_t dilation_w() const { return dilation_across.value_or(dilation); }
    std::int64_t row_pitch() const { return in_w * pixel_bytes; }
    std::int64_t image_bytes() const { return in_h * row_pitch(); }
    std::int64_t volume_bytes() const { return depth.in * image_bytes(); }

    /// The largest legal block of at most `pixels` pixels, evened out so that the last one is not a sliver.
    WindowBlock block_shape(std::int64_t pixels) const;
    std::int64_t block_count(const WindowBlock& shape) const;
    /// All blocks of that shape (smaller at the edges), in the order of their pixels.
    std::vector<WindowBlock> cut(const WindowBlock& shape) const;
    std::int64_t first_pixel(const WindowBlock& b) const { return (b.image * out_h + b.p) * out_w + b.q; }

    StagedWindow staged(const WindowBlock& block) const;
    /// The same with the pitches and strides of the tensor as it lies.
    StagedWindow in_place(const WindowBlock& block) const;
    /// Bytes from the beginning of the tensor to that of the block's first window.
    std::int64_t origin(const WindowBlock& block, const StagedWindow& window) const;
    /// Volumes of which a block has windows.
    std::int64_t volumes(const WindowBlock& block) const { return out_d == 1 ? block.images : 1; }
    /// One descriptor for all images where the rows line up, otherwise one for each.
    std::vector<StagedCopy> copies(const WindowBlock& block, const StagedWindow& staged) const;
    /// Bytes of the tensor from the first to the last input row that the block covers.
    Range extent(const WindowBlock& block) const;
    /// Bytes of the input that any window covers: what has to be read at least once.
    std::int64_t covered_bytes() const;

private:
    /// Images that follow each other evenly: those of a volume, or all where each is one.
    std::int64_t span() const { return out_d == 1 ? batch : out_d; }
};

}  // namespace systole::systolic
