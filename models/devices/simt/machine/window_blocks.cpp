// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/window_blocks.h"

#include <algorithm>

namespace systole::simt {

std::int64_t WindowBlocks::before(std::int64_t cta) const {
    return std::min(cta * kernel_.elements_of_cta(), kernel_.cols);
}

// Of the first and the last output pixel a CTA may have some channels only: it takes as large a part of all of its
// pixels.
TileAccess::Block WindowBlocks::pixels(std::int64_t cta, std::int64_t row) const {
    const std::int64_t channels = windows_.channels * kernel_.results_of_channel;
    const std::int64_t begin = before(cta), end = before(cta + 1);
    const std::int64_t first = begin / channels, count = ceil_div(end, channels) - first;
    const PixelRange range = windows_.window_row(first, count, row);
    const MatrixPlace& map = plan_.in.front().place;
    const std::int64_t of_pixel = map.bytes.value() / windows_.in_pixels();
    TileAccess::Block block{map.address + range.begin * of_pixel, (range.end - range.begin) * of_pixel, 1,
                            map.operand, map.range()};
    block.gathered =
        static_cast<std::int64_t>(Int128{range.loaded * of_pixel} * (end - begin) / (count * channels));
    return block;
}

void WindowBlocks::add_weights(CtaRange range, std::int64_t row, TileAccess& access) const {
    const std::int64_t sms = std::min(range.count, plan_.sms - range.first);
    if (sms <= 0) return;
    const auto add = [&](const MatrixPlace& matrix, std::int64_t from, std::int64_t until) {
        if (until > from)
            access.blocks.push_back({matrix.address + from, until - from, sms, matrix.operand, matrix.range()});
        access.bytes_of_sm += until - from;
    };
    for (std::size_t i = 0; i < plan_.columns.size(); ++i) {
        const MatrixPlace& matrix = plan_.columns[i];
        const std::int64_t bytes = matrix.bytes.value(), rows = windows_.kernel_h;
        if (i == 0)
            add(matrix, bytes * row / rows, bytes * (row + 1) / rows);
        else if (row == 0)
            add(matrix, 0, bytes);
    }
}

// Neighbours' blocks are joined where they meet, for they are of one map.
TileAccess WindowBlocks::reads(CtaRange range, std::int64_t step) const {
    TileAccess access;
    access.sms = range.count;
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta) {
        const TileAccess::Block own = pixels(cta, step);
        access.bytes_of_sm = std::max(access.bytes_of_sm, own.taken());
        if (own.bytes == 0) continue;
        if (!access.blocks.empty()) {
            TileAccess::Block& last = access.blocks.back();
            const std::int64_t end = last.address + last.bytes;
            if (own.address >= last.address && own.address <= end) {
                last.bytes = std::max(end, own.address + own.bytes) - last.address;
                last.gathered = last.taken() + own.taken();
                continue;
            }
        }
        access.blocks.push_back(own);
    }
    add_weights(range, step, access);
    return access;
}

TileAccess WindowBlocks::writes(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    const auto at = [&](std::int64_t cta) {
        return static_cast<std::int64_t>(Int128{plan_.to.bytes.value()} * before(cta) / kernel_.cols);
    };
    const std::int64_t begin = at(range.first), end = at(range.first + range.count);
    access.blocks.push_back({plan_.to.address + begin, end - begin, 1, plan_.to.operand, plan_.to.range()});
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta)
        access.bytes_of_sm = std::max(access.bytes_of_sm, at(cta + 1) - at(cta));
    return access;
}

std::int64_t WindowBlocks::macs(CtaRange range) const {
    if (!kernel_.weighted) return 0;
    return (before(range.first + range.count) - before(range.first)) * windows_.taps();
}

}  // namespace systole::simt
