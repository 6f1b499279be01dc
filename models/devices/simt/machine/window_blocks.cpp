// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/window_blocks.h"

#include <algorithm>

namespace systole::simt {
namespace {

constexpr std::int64_t kSumBytes = 4;

}  // namespace

std::int64_t WindowBlocks::before(std::int64_t cta) const {
    return std::min(cta / kernel_.parts * kernel_.elements_of_cta(), kernel_.cols);
}

/// Of the first one behind those whose windows it shares.
std::int64_t WindowBlocks::behind(std::int64_t cta) const {
    return before((cta / kernel_.parts + 1) * kernel_.parts);
}

/// Of whole maps, pixels of the round of a CTA's part.
PixelRange WindowBlocks::round(std::int64_t cta, std::int64_t first, std::int64_t count,
                               std::int64_t number) const {
    const std::int64_t taps = windows_.taps(), own = kernel_.taps_of_part();
    const std::int64_t part = std::min(taps, cta % kernel_.parts * own), end = std::min(taps, part + own);
    const std::int64_t of_round = kernel_.sharing * VectorKernel::kUnderWay;
    const std::int64_t from = std::min(end, part + number * of_round);
    const std::int64_t until = std::min(end, from + of_round);
    if (from == until) return {};
    return {first * taps + from, (first + count - 1) * taps + until, count * (until - from)};
}

// Of what CTAs that stand for one load together, each takes as large a part as it has of their results; and
// of the first and the last pixel they may have some channels only.
TileAccess::Block WindowBlocks::pixels(std::int64_t cta, std::int64_t row) const {
    const std::int64_t channels = windows_.channels * kernel_.results_of_channel;
    const std::int64_t together = cta / kernel_.pieces * kernel_.pieces;
    const std::int64_t begin = before(together), own = behind(cta) - before(cta);
    const std::int64_t end = kernel_.pieces > 1 ? before(together + kernel_.pieces) : behind(cta);
    const std::int64_t first = begin / channels, count = ceil_div(end, channels) - first;
    const PixelRange range =
        kernel_.sharing > 1 ? round(cta, first, count, row) : windows_.window_row(first, count, row);
    const MatrixPlace& map = plan_.in.front().place;
    const std::int64_t of_pixel = map.bytes.value() / windows_.in_pixels();
    TileAccess::Block block{map.address + range.begin * of_pixel, (range.end - range.begin) * of_pixel, 1,
                            map.operand, map.range()};
    block.gathered = static_cast<std::int64_t>(Int128{range.loaded * of_pixel} * own / (count * channels));
    return block;
}

void WindowBlocks::add_weights(CtaRange range, std::int64_t row, TileAccess& access) const {
    const std::int64_t sms = range.below(plan_.sms);
    if (sms <= 0) return;
    const auto add = [&](const MatrixPlace& matrix, std::int64_t from, std::int64_t until) {
        if (until > from)
            access.blocks.push_back(
                {matrix.address + from, until - from, sms, matrix.operand, matrix.range()});
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

TileAccess::Block WindowBlocks::sums(std::int64_t cta, std::int64_t first, std::int64_t count) const {
    const std::int64_t own = (behind(cta) - before(cta)) * kSumBytes;
    const std::int64_t begin = before(cta) * kSumBytes * kernel_.parts + first * own;
    return {plan_.sums.address + begin, count * own, 1, plan_.sums.operand, plan_.sums.range()};
}

TileAccess WindowBlocks::reads_of_sums(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        if (cta % kernel_.parts != 0) continue;
        access.blocks.push_back(sums(cta, 0, kernel_.parts));
        access.bytes_of_sm = std::max(access.bytes_of_sm, access.blocks.back().bytes);
    }
    return access;
}

// Neighbours' blocks are joined where they meet, for they are of one map.
TileAccess WindowBlocks::reads(CtaRange range, std::int64_t step) const {
    if (step >= kernel_.steps()) return reads_of_sums(range);
    TileAccess access;
    access.sms = range.count;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
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
        return static_cast<std::int64_t>(Int128{plan_.to.place.bytes.value()} * before(cta) / kernel_.cols);
    };
    // Of CTAs that share windows all store sums, and the first one results.
    if (kernel_.parts > 1)
        for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride)
            access.blocks.push_back(sums(cta, cta % kernel_.parts, 1));
    access.bytes_of_sm = access.blocks.empty() ? 0 : access.blocks.front().bytes;
    const auto storing = [&](std::int64_t cta) { return round_up(cta, kernel_.parts); };
    const auto add = [&](std::int64_t begin, std::int64_t end) {
        if (end > begin)
            access.blocks.push_back({plan_.to.place.address + begin, end - begin, 1, plan_.to.place.operand,
                                     plan_.to.place.range()});
    };
    if (range.stride == 1) add(at(storing(range.first)), at(storing(range.end())));
    std::int64_t most = 0;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const std::int64_t begin = at(storing(cta)), end = at(storing(cta + 1));
        if (range.stride > 1) add(begin, end);
        most = std::max(most, end - begin);
    }
    access.bytes_of_sm += most;
    return access;
}

std::int64_t WindowBlocks::macs(CtaRange range) const {
    if (!kernel_.weighted) return 0;
    std::int64_t results = 0;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride)
        results += before(cta + 1) - before(cta);
    return results * windows_.taps();
}

}  // namespace systole::simt
