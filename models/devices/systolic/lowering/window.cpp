// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/window.h"

#include <algorithm>
#include <limits>

#include "sim/base/checked.h"

namespace systole::systolic {
namespace {

/// `total` cut into the fewest pieces of at most `most`, all but the last equal: the size of one.
std::int64_t even_piece(std::int64_t total, std::int64_t most) {
    return ceil_div(total, ceil_div(total, std::min(total, most)));
}

/// Coordinates of one dimension that some window of `out` positions covers.
std::int64_t covered(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                     std::int64_t pad, std::int64_t dilation) {
    std::vector<bool> seen(static_cast<std::size_t>(in));
    for (std::int64_t o = 0; o < out; ++o) {
        for (std::int64_t k = 0; k < kernel; ++k) {
            const std::int64_t at = o * stride + k * dilation - pad;
            if (at >= 0 && at < in) seen[static_cast<std::size_t>(at)] = true;
        }
    }
    return std::ranges::count(seen, true);
}

}  // namespace

WindowBlock WindowGeometry::block_shape(std::int64_t pixels) const {
    WindowBlock shape{0, 1, 0, out_h, 0, out_w};
    if (pixels >= out_h * out_w) {
        shape.images = even_piece(batch, pixels / (out_h * out_w));
    } else if (pixels >= out_w) {
        shape.rows = even_piece(out_h, pixels / out_w);
    } else {
        shape.rows = 1;
        shape.cols = even_piece(out_w, pixels);
    }
    return shape;
}

std::int64_t WindowGeometry::block_count(const WindowBlock& shape) const {
    return ceil_div(batch, shape.images) * ceil_div(out_h, shape.rows) * ceil_div(out_w, shape.cols);
}

std::vector<WindowBlock> WindowGeometry::cut(const WindowBlock& shape) const {
    std::vector<WindowBlock> blocks;
    blocks.reserve(static_cast<std::size_t>(block_count(shape)));
    for (std::int64_t n = 0; n < batch; n += shape.images) {
        for (std::int64_t p = 0; p < out_h; p += shape.rows) {
            for (std::int64_t q = 0; q < out_w; q += shape.cols) {
                blocks.push_back({n, std::min(shape.images, batch - n), p, std::min(shape.rows, out_h - p), q,
                                  std::min(shape.cols, out_w - q)});
            }
        }
    }
    return blocks;
}

StagedWindow WindowGeometry::staged(const WindowBlock& block) const {
    StagedWindow s;
    s.row_step = kernel_h == 1 ? stride : 1;  // rows between the taps of a one-row kernel are not needed
    s.top = block.p * stride - pad;
    s.left = block.q * stride - left();
    s.rows = kernel_h == 1 ? block.rows : (block.rows - 1) * stride + dilation * (kernel_h - 1) + 1;
    s.cols = (block.cols - 1) * stride + dilation * (kernel_w - 1) + 1;
    if (block.cols == out_w) s.cols = std::max(s.cols, in_w - s.left);  // whole rows travel as one piece
    const auto pitch = checked_mul(s.cols, pixel_bytes);
    const auto image = pitch ? checked_mul(*pitch, s.rows) : pitch;
    const auto bytes = image ? checked_mul(*image, block.images) : image;
    s.bytes = bytes.value_or(std::numeric_limits<std::int64_t>::max());
    if (!bytes) return s;
    s.pitch = *pitch;
    s.image_pitch = *image;
    // Of a single row of outputs nobody asks for it, however far it would be.
    s.p_stride =
        checked_mul(kernel_h == 1 ? 1 : stride, s.pitch).value_or(std::numeric_limits<std::int64_t>::max());
    return s;
}

std::vector<StagedCopy> WindowGeometry::copies(const WindowBlock& block, const StagedWindow& s) const {
    const std::int64_t first = s.top < 0 ? ceil_div(-s.top, s.row_step) : 0;
    const std::int64_t below =
        in_h - s.top;  // staged rows reach the input's end after ceil(below / row_step)
    const std::int64_t last = below > 0 ? std::min(s.rows, ceil_div(below, s.row_step)) : 0;
    const std::int64_t x = std::max<std::int64_t>(s.left, 0);
    const std::int64_t xs = std::min(s.left + s.cols, in_w) - x;
    if (first >= last || xs <= 0) return {};

    StagedCopy copy;
    copy.from.offset =
        block.image * image_bytes() + (s.top + first * s.row_step) * row_pitch() + x * pixel_bytes;
    copy.from.rows = last - first;
    copy.from.row_bytes = xs * pixel_bytes;
    copy.from.stride = s.row_step * row_pitch();
    copy.to = first * s.pitch + (x - s.left) * pixel_bytes;
    copy.to_stride = s.pitch;
    if (copy.from.rows * copy.from.stride == image_bytes() && copy.from.rows * s.pitch == s.image_pitch) {
        copy.from.rows *= block.images;
        return {copy};
    }
    std::vector<StagedCopy> all;
    for (std::int64_t image = 0; image < block.images; ++image) {
        all.push_back(copy);
        copy.from.offset += image_bytes();
        copy.to += s.image_pitch;
    }
    return all;
}

Range WindowGeometry::extent(const WindowBlock& block) const {
    const std::int64_t top = std::clamp<std::int64_t>(block.p * stride - pad, 0, in_h - 1);
    const std::int64_t bottom = (block.p + block.rows - 1) * stride - pad + dilation * (kernel_h - 1);
    const std::int64_t begin = block.image * image_bytes() + top * row_pitch();
    const std::int64_t end = (block.image + block.images - 1) * image_bytes() +
                             (std::clamp<std::int64_t>(bottom, 0, in_h - 1) + 1) * row_pitch();
    return {begin, end - begin};
}

std::int64_t WindowGeometry::covered_bytes() const {
    return batch * covered(in_h, out_h, kernel_h, stride, pad, dilation) *
           covered(in_w, out_w, kernel_w, stride, left(), dilation) * pixel_bytes;
}

}  // namespace systole::systolic
