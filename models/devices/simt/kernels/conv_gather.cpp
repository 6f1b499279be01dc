// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/conv_gather.h"

#include <algorithm>

namespace systole::simt {
namespace {

constexpr std::int64_t kLoadBits = 128;  // cp.async's, and TMA's unit

/// The first integer at or above a / b, b > 0, of an a that may be negative.
std::int64_t up(std::int64_t a, std::int64_t b) {
    return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

/// Of rows (or columns) 0 … all - 1 behind `pad` others, every stride-th: those of which `number` is left.
struct Every {
    std::int64_t number, pad, stride, all;

    std::int64_t first(std::int64_t of) const { return ((of - pad) % stride + stride) % stride; }
    std::int64_t count_of(std::int64_t of) const {
        return first(of) < all ? (all - first(of) - 1) / stride + 1 : 0;
    }
    std::int64_t count() const { return count_of(number); }
    std::int64_t place(std::int64_t at) const { return (at - first(number)) / stride; }
    /// How many have a smaller number.
    std::int64_t before() const {
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < number; ++i) sum += count_of(i);
        return sum;
    }
};

/// Windows of one pixel never meet what lies between them: rows (columns) that none meets are left out.
void leave_out(std::int64_t out, std::int64_t padded, std::int64_t& in, std::int64_t& stride) {
    if (padded != in || stride == 1) return;
    in = out;
    stride = 1;
}

}  // namespace

std::int64_t ConvGather::steps(std::int64_t tile_k) const {
    if (packed) return ceil_div(taps(), std::max<std::int64_t>(1, tile_k / stored));
    return taps() * ceil_div(channels, tile_k);
}

GatherStep ConvGather::step(std::int64_t number, std::int64_t tile_k) const {
    GatherStep step;
    if (packed) {
        const std::int64_t most = std::max<std::int64_t>(1, tile_k / stored);
        step.tap = std::min(taps(), number * most);
        step.taps = std::min(most, taps() - step.tap);
        step.channels = channels;
        step.k_begin = step.tap * channels;
    } else {
        step.channel = std::min(channels, number / taps() * tile_k);
        step.channels = std::min(tile_k, channels - step.channel);
        step.tap = number % taps();
        step.k_begin = step.channel * taps() + step.tap * step.channels;
    }
    step.k = step.taps * step.channels;
    return step;
}

std::int64_t ConvGather::k_before(std::int64_t number, std::int64_t tile_k) const {
    return number >= steps(tile_k) ? taps() * channels : step(number, tile_k).k_begin;
}

/// Of the pixel at (y, x), where those that a tap of some windows meets lie together, or not.
std::int64_t ConvGather::number_of(std::int64_t image, std::int64_t y, std::int64_t x, bool apart) const {
    if (!apart) return (image * in_h + y) * in_w + x;
    const Every rows{(y + top) % stride_h, top, stride_h, in_h},
        columns{(x + left) % stride_w, left, stride_w, in_w};
    const std::int64_t others = rows.before() * in_w + rows.count() * columns.before();
    return images * others + (image * rows.count() + rows.place(y)) * columns.count() + columns.place(x);
}

/// Output pixels [begin, end) of row `row` of all images' rows.
void ConvGather::add_row(std::int64_t row, std::int64_t begin, std::int64_t end, const GatherStep& step,
                         bool apart, PixelRange& range) const {
    for (std::int64_t tap = step.tap; tap < step.tap + step.taps; ++tap) {
        const std::int64_t y = row % out_h * stride_h + tap / kernel_w * dilation_h - top;
        const std::int64_t x = tap % kernel_w * dilation_w - left;  // of output pixel 0
        if (y < 0 || y >= in_h) continue;
        const std::int64_t first = std::max(begin, up(-x, stride_w));
        const std::int64_t behind = std::min(end, up(in_w - x, stride_w));
        if (first >= behind) continue;
        const std::int64_t from = number_of(row / out_h, y, x + first * stride_w, apart);
        const std::int64_t until = number_of(row / out_h, y, x + (behind - 1) * stride_w, apart) + 1;
        range.begin = range.loaded == 0 ? from : std::min(range.begin, from);
        range.end = std::max(range.end, until);
        range.loaded += behind - first;
    }
}

PixelRange ConvGather::pixels(std::int64_t first, std::int64_t count, const GatherStep& step) const {
    PixelRange range;
    for (std::int64_t at = first; at < first + count;) {
        const std::int64_t row = at / out_w, end = std::min(first + count, (row + 1) * out_w);
        add_row(row, at - row * out_w, end - row * out_w, step, apart(), range);
        at = end;
    }
    return range;
}

PixelRange ConvGather::window_row(std::int64_t first, std::int64_t count, std::int64_t number) const {
    PixelRange range;
    for (std::int64_t at = first; at < first + count;) {
        const std::int64_t row = at / out_w, end = std::min(first + count, (row + 1) * out_w);
        PixelRange own;
        add_row(row, at - row * out_w, end - row * out_w, {number * kernel_w, kernel_w}, false, own);
        at = end;
        if (own.loaded == 0) continue;
        range.begin = range.loaded == 0 ? own.begin : std::min(range.begin, own.begin);
        range.end = std::max(range.end, own.end);
        range.loaded += std::min(own.loaded, own.end - own.begin);
    }
    return range;
}

ConvGather windows_of(const Pool& pool) {
    ConvGather windows;
    windows.images = pool.batch;
    windows.in_h = pool.in_h;
    windows.in_w = pool.in_w;
    windows.out_h = pool.out_h();
    windows.out_w = pool.out_w();
    windows.kernel_h = pool.window_h;
    windows.kernel_w = pool.window_w;
    windows.stride_h = pool.stride;
    windows.stride_w = pool.stride_w();
    windows.top = pool.pad;
    windows.left = pool.left();
    windows.channels = windows.stored = pool.channels;
    return windows;
}

ConvGather windows_of(const Conv2d& conv) {
    ConvGather gather;
    gather.images = conv.batch;
    gather.in_h = conv.in_h;
    gather.in_w = conv.in_w;
    gather.out_h = conv.out_h();
    gather.out_w = conv.out_w();
    gather.kernel_h = conv.kernel_h;
    gather.kernel_w = conv.kernel_w;
    gather.stride_h = conv.stride;
    gather.stride_w = conv.stride_w();
    gather.dilation_h = conv.dilation;
    gather.dilation_w = conv.dilation_w();
    gather.top = conv.pad;
    gather.left = conv.left();
    gather.channels = gather.stored = conv.in_c / conv.groups;
    return gather;
}

GatherLoads loads_of(std::int64_t element_bits) {
    const std::int64_t elements = std::max<std::int64_t>(1, kLoadBits / element_bits);
    return {elements, elements};
}

std::optional<ConvGather> gather_of(const Conv2d& conv, const GatherLoads& loads) {
    ConvGather gather = windows_of(conv);
    if (conv.kernel_h == 1) leave_out(gather.out_h, conv.padded_h(), gather.in_h, gather.stride_h);
    if (conv.kernel_w == 1) leave_out(gather.out_w, conv.padded_w(), gather.in_w, gather.stride_w);
    const bool same = gather.in_h == gather.out_h && gather.in_w == gather.out_w && gather.stride_h == 1 &&
                      gather.stride_w == 1;
    if (gather.taps() == 1 && same && conv.most_pad() == 0 && conv.groups == 1) return std::nullopt;
    if (conv.groups == 1) gather.stored = round_up(gather.channels, loads.elements);
    gather.packed = gather.stored <= loads.most_packed;
    return gather;
}

}  // namespace systole::simt
