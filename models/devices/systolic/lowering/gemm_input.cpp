// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/gemm_input.h"

#include <algorithm>

namespace systole::systolic {

/// Blocks of about equal size, of at most `most` rows but for the granule.
std::int64_t MatrixInput::even_rows(std::int64_t most) const {
    const std::int64_t all = std::max<std::int64_t>(1, own_.count);
    return std::min(all, round_up(ceil_div(all, ceil_div(all, std::min(all, most))), granule_));
}

/// Evenly where rows divide, and otherwise by granules.
void MatrixInput::share(const CoreShare& core) {
    own_ = core.of(m_);
    if (m_ % core.count == 0) return;
    const Range granules = core.of(ceil_div(m_, granule_));
    const std::int64_t begin = std::min(m_, granules.begin * granule_);
    own_ = {begin, std::min(m_, granules.end() * granule_) - begin};
}

RowBlocking MatrixInput::blocking(std::int64_t rows, std::int64_t k_tile) const {
    RowBlocking b;
    b.rows = even_rows(rows);
    b.blocks = ceil_div(own_.count, b.rows);
    b.tile_bytes = b.rows * pitch();
    b.k_tile_bytes = b.rows * bytes(std::min(k_, k_tile));
    b.load_bytes = own_.count * pitch();
    return b;
}

void MatrixInput::cut(std::int64_t rows) {
    block_rows_ = even_rows(rows);
}

Range MatrixInput::rows(std::int64_t block) const {
    const std::int64_t begin = own_.begin + block * block_rows_;
    return {begin, std::min(block_rows_, own_.end() - begin)};
}

Range MatrixInput::extent(std::int64_t item, std::int64_t block) const {
    const Range m = rows(block);
    return {(item * m_ + m.begin) * pitch(), m.count * pitch()};
}

Staging MatrixInput::staging(std::int64_t item, std::int64_t block, Range k) const {
    const Range m = rows(block);
    const std::int64_t row = bytes(k.count);
    Staging staging{tensor_, Operand::Activations, m.count * row, {}};
    const std::int64_t offset = (item * m_ + m.begin) * pitch() + bytes(k.begin);
    staging.copies.push_back({{offset, m.count, row, pitch()}, 0, row});
    return staging;
}

PassRead MatrixInput::read(std::int64_t item, std::int64_t block, Range staged_k, Range k,
                           std::int64_t base) const {
    const Range m = rows(block);
    PassRead read;
    read.stream.segments = {{Bytes(0), Bytes(bytes(k.count))}};
    if (resident_) {
        read.address = base + (item * m_ + m.begin) * pitch() + bytes(k.begin);
        read.stream.levels[2] = {m.count, Bytes(pitch())};
    } else {
        read.address = base + bytes(k.begin - staged_k.begin);
        read.stream.levels[2] = {m.count, Bytes(bytes(staged_k.count))};
    }
    return read;
}

std::int64_t MatrixInput::uniform_until(Range k) const {
    return bits_of(dtype_).value() * k.count % 8 == 0 ? k_ : k.end();
}

WindowGeometry window_of(const Conv2d& c, DType dtype) {
    WindowGeometry w;
    w.batch = c.batch;
    w.in_h = c.in_h;
    w.in_w = c.in_w;
    w.pixel_bytes = row_bytes(dtype, c.in_c).value();
    w.kernel_h = c.kernel_h;
    w.kernel_w = c.kernel_w;
    w.stride = c.stride;
    w.pad = c.pad;
    w.dilation = c.dilation;
    w.pad_left = c.uneven.pad_left;
    w.stride_across = c.uneven.stride_w;
    w.dilation_across = c.uneven.dilation_w;
    w.out_h = c.out_h();
    w.out_w = c.out_w();
    w.depth = c.depth.value_or(ConvDepth{});
    w.out_d = c.out_d();
    return w;
}

ConvInput::ConvInput(TensorId tensor, DType dtype, const Conv2d& conv, bool resident)
    : tensor_(tensor),
      dtype_(dtype),
      window_(window_of(conv, dtype)),
      group_channels_(conv.in_c / conv.groups),
      resident_(resident),
      shared_(window_, {}) {}

RowBlocking ConvInput::blocking(std::int64_t rows, std::int64_t) const {
    const WindowBlock shape = shared_.block_shape(rows);
    const StagedWindow staged = window_.staged(shape);
    RowBlocking b;
    b.rows = shape.pixels();
    b.blocks = shared_.block_count(shape);
    b.tile_bytes = staged.bytes;
    const std::int64_t rows_read = std::min(staged.rows, window_.in_h);
    const std::int64_t cols_read = std::min(staged.cols, window_.in_w);
    const std::int64_t slices_read = window_.volumes(shape) * std::min(staged.slices, window_.depth.in);
    b.load_bytes = b.blocks * slices_read * rows_read * cols_read * window_.pixel_bytes;
    return b;
}

Range ConvInput::rows(std::int64_t block) const {
    return {window_.first_pixel(at(block)), at(block).pixels()};
}

Range ConvInput::extent(std::int64_t, std::int64_t block) const {
    return window_.extent(at(block));
}

Staging ConvInput::staging(std::int64_t, std::int64_t block, Range) const {
    const StagedWindow staged = window_.staged(at(block));
    return {tensor_, Operand::Activations, staged.bytes, window_.copies(at(block), staged)};
}

/// The channels of a tap follow each other, and the taps of a kernel row where neither groups nor dilation
/// nor padding bits lie between them.
std::int64_t ConvInput::uniform_until(Range k) const {
    const std::int64_t bits = bits_of(dtype_).value();
    if (bits * k.count % 8 != 0) return k.end();
    const bool adjoining = window_.dilation_w() == 1 && window_.pixel_bytes * 8 == bits * group_channels_;
    const std::int64_t row = group_channels_ * (adjoining ? window_.kernel_w : 1);
    return (k.begin / row + 1) * row;
}

PassRead ConvInput::read(std::int64_t item, std::int64_t block, Range, Range k, std::int64_t base) const {
    const WindowBlock& b = at(block);
    const StagedWindow s = resident_ ? window_.in_place(b) : window_.staged(b);
    const std::int64_t origin = resident_ ? window_.origin(b, s) : 0;  // of the first vector's window
    const std::int64_t q_stride = window_.stride_w() * window_.pixel_bytes;

    std::vector<Range> pieces;  // bytes from the base on, in the order of K
    for (std::int64_t at_k = k.begin; at_k < k.end();) {
        const std::int64_t tap = at_k / group_channels_;
        const std::int64_t c = at_k % group_channels_;
        const std::int64_t count = std::min(group_channels_ - c, k.end() - at_k);
        const std::int64_t row = tap / window_.kernel_w;
        const std::int64_t pixel = origin + row / window_.kernel_h * window_.depth.dilation * s.slice_pitch +
                                   row % window_.kernel_h * window_.dilation * s.pitch +
                                   tap % window_.kernel_w * window_.dilation_w() * window_.pixel_bytes;
        const std::int64_t channel = item * group_channels_ + c;
        const std::int64_t bits = bits_of(dtype_).value();
        const std::int64_t begin = pixel + channel * bits / 8;
        const std::int64_t end = pixel + ceil_div((channel + count) * bits, 8);
        if (!pieces.empty() && pieces.back().end() == begin) {
            pieces.back().count += end - begin;
        } else {
            pieces.push_back({begin, end - begin});
        }
        at_k += count;
    }
    PassRead read;
    const std::int64_t first = std::ranges::min_element(pieces, {}, &Range::begin)->begin;
    for (const Range& p : pieces) read.stream.segments.push_back({Bytes(p.begin - first), Bytes(p.count)});
    read.address = base + first;
    read.stream.levels = {
        {{b.images, Bytes(s.image_stride)}, {b.rows, Bytes(s.p_stride)}, {b.cols, Bytes(q_stride)}}};
    return read;
}

}  // namespace systole::systolic
