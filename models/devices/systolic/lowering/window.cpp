// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/window.h"

#include <algorithm>
#include <limits>
#include <utility>

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

/// Coordinates from the first to the last that windows of `out` positions need: without those between the
/// taps of a kernel of one.
std::int64_t reach(std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
    return kernel == 1 ? out : (out - 1) * stride + dilation * (kernel - 1) + 1;
}

/// Of `count` coordinates first, first + step, …, those within an input of `in`.
Range inside(std::int64_t first, std::int64_t count, std::int64_t step, std::int64_t in) {
    const std::int64_t begin = first < 0 ? ceil_div(-first, step) : 0;
    const std::int64_t end = first < in ? std::min(count, ceil_div(in - first, step)) : 0;
    return {begin, end - begin};
}

}  // namespace

WindowBlock WindowGeometry::block_shape(std::int64_t pixels) const {
    WindowBlock shape{0, 1, 0, out_h, 0, out_w};
    if (pixels >= out_h * out_w) {
        shape.images = even_piece(span(), pixels / (out_h * out_w));
    } else if (pixels >= out_w) {
        shape.rows = even_piece(out_h, pixels / out_w);
    } else {
        shape.rows = 1;
        shape.cols = even_piece(out_w, pixels);
    }
    return shape;
}

std::int64_t WindowGeometry::block_count(const WindowBlock& shape) const {
    return batch * out_d / span() * ceil_div(span(), shape.images) * ceil_div(out_h, shape.rows) *
           ceil_div(out_w, shape.cols);
}

std::vector<WindowBlock> WindowGeometry::cut(const WindowBlock& shape) const {
    std::vector<WindowBlock> blocks;
    blocks.reserve(static_cast<std::size_t>(block_count(shape)));
    for (std::int64_t n = 0; n < batch * out_d;) {
        const std::int64_t images = std::min(shape.images, span() - n % span());
        for (std::int64_t p = 0; p < out_h; p += shape.rows) {
            for (std::int64_t q = 0; q < out_w; q += shape.cols) {
                blocks.push_back(
                    {n, images, p, std::min(shape.rows, out_h - p), q, std::min(shape.cols, out_w - q)});
            }
        }
        n += images;
    }
    return blocks;
}

StagedWindow WindowGeometry::staged(const WindowBlock& block) const {
    constexpr std::int64_t kBeyond = std::numeric_limits<std::int64_t>::max();
    StagedWindow s;
    // What lies between the taps of a kernel of one slice, or one row, is not needed.
    s.slice_step = depth.kernel == 1 ? depth.stride : 1;
    s.row_step = kernel_h == 1 ? stride : 1;
    s.front = block.image % out_d * depth.stride - depth.pad;
    s.top = block.p * stride - pad;
    s.left = block.q * stride_w() - left();
    s.slices = reach(block.images / volumes(block), depth.kernel, depth.stride, depth.dilation);
    s.rows = reach(block.rows, kernel_h, stride, dilation);
    s.cols = (block.cols - 1) * stride_w() + dilation_w() * (kernel_w - 1) + 1;
    if (block.cols == out_w) s.cols = std::max(s.cols, in_w - s.left);  // whole rows travel as one piece
    const auto pitch = checked_mul(s.cols, pixel_bytes);
    const auto slice = pitch ? checked_mul(*pitch, s.rows) : pitch;
    const auto volume = slice ? checked_mul(*slice, s.slices) : slice;
    const auto bytes = volume ? checked_mul(*volume, volumes(block)) : volume;
    s.bytes = bytes.value_or(kBeyond);
    if (!bytes) return s;
    s.pitch = *pitch;
    s.slice_pitch = *slice;
    // Of a single row or image of outputs nobody asks for these, however far it would be.
    s.p_stride = checked_mul(kernel_h == 1 ? 1 : stride, s.pitch).value_or(kBeyond);
    s.image_stride =
        out_d == 1 ? *volume : checked_mul(depth.kernel == 1 ? 1 : depth.stride, *slice).value_or(kBeyond);
    return s;
}

StagedWindow WindowGeometry::in_place(const WindowBlock& block) const {
    StagedWindow s = staged(block);
    s.pitch = row_pitch();
    s.slice_pitch = image_bytes();
    s.p_stride = stride * s.pitch;
    s.image_stride = out_d == 1 ? volume_bytes() : depth.stride * s.slice_pitch;
    return s;
}

std::int64_t WindowGeometry::origin(const WindowBlock& block, const StagedWindow& s) const {
    return block.image / out_d * volume_bytes() + s.front * image_bytes() + s.top * row_pitch() +
           s.left * pixel_bytes;
}

std::vector<StagedCopy> WindowGeometry::copies(const WindowBlock& block, const StagedWindow& s) const {
    const Range z = inside(s.front, s.slices, s.slice_step, depth.in);
    const Range y = inside(s.top, s.rows, s.row_step, in_h);
    const std::int64_t x = std::max<std::int64_t>(s.left, 0);
    const std::int64_t xs = std::min(s.left + s.cols, in_w) - x;
    if (z.count <= 0 || y.count <= 0 || xs <= 0) return {};

    StagedCopy copy;
    copy.from.offset = block.image / out_d * volume_bytes() +
                       (s.front + z.begin * s.slice_step) * image_bytes() +
                       (s.top + y.begin * s.row_step) * row_pitch() + x * pixel_bytes;
    copy.from.rows = y.count;
    copy.from.row_bytes = xs * pixel_bytes;
    copy.from.stride = s.row_step * row_pitch();
    copy.to = z.begin * s.slice_pitch + y.begin * s.pitch + (x - s.left) * pixel_bytes;
    copy.to_stride = s.pitch;
    const std::int64_t to_volume = s.slices * s.slice_pitch;
    std::int64_t slices = z.count, all = volumes(block);
    // Where rows follow each other evenly from one slice, or volume, to the next, they are one descriptor.
    const auto lines_up = [&](std::int64_t from, std::int64_t to) {
        return copy.from.rows * copy.from.stride == from && copy.from.rows * s.pitch == to;
    };
    if (lines_up(s.slice_step * image_bytes(), s.slice_pitch)) copy.from.rows *= std::exchange(slices, 1);
    if (slices == 1 && lines_up(volume_bytes(), to_volume)) copy.from.rows *= std::exchange(all, 1);
    std::vector<StagedCopy> copies;
    for (std::int64_t i = 0; i < all * slices; ++i) {
        const std::int64_t volume = i / slices, slice = i % slices;
        copies.push_back(copy);
        copies.back().from.offset += volume * volume_bytes() + slice * s.slice_step * image_bytes();
        copies.back().to += volume * to_volume + slice * s.slice_pitch;
    }
    return copies;
}

Range WindowGeometry::extent(const WindowBlock& block) const {
    const auto place = [&](std::int64_t image, std::int64_t d, std::int64_t h) {
        const std::int64_t z = image % out_d * depth.stride - depth.pad + d, y = h - pad;
        return image / out_d * volume_bytes() + std::clamp<std::int64_t>(z, 0, depth.in - 1) * image_bytes() +
               std::clamp<std::int64_t>(y, 0, in_h - 1) * row_pitch();
    };
    const std::int64_t begin = place(block.image, 0, block.p * stride);
    const std::int64_t end = place(block.image + block.images - 1, depth.dilation * (depth.kernel - 1),
                                   (block.p + block.rows - 1) * stride + dilation * (kernel_h - 1)) +
                             row_pitch();
    return {begin, end - begin};
}

std::int64_t WindowGeometry::covered_bytes() const {
    return batch * covered(depth.in, out_d, depth.kernel, depth.stride, depth.pad, depth.dilation) *
           covered(in_h, out_h, kernel_h, stride, pad, dilation) *
           covered(in_w, out_w, kernel_w, stride_w(), left(), dilation_w()) * pixel_bytes;
}

}  // namespace systole::systolic
