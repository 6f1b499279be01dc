// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/row_sum_blocks.h"

#include <algorithm>

namespace systole::simt {
namespace {

constexpr std::int64_t kSumBytes = 4;

/// One block with the one before, where it follows that. With an empty `whole` nothing else of the matrix
/// comes with it.
void add(const MatrixPlace& matrix, std::int64_t begin, std::int64_t end, const MatrixRange& whole,
         TileAccess& access) {
    if (begin == end) return;
    const std::int64_t address = matrix.address + begin;
    if (!access.blocks.empty()) {
        TileAccess::Block& last = access.blocks.back();
        if (last.address + last.bytes == address && last.matrix == whole) {
            last.bytes += end - begin;
            return;
        }
    }
    access.blocks.push_back({address, end - begin, 1, matrix.operand, whole});
}

}  // namespace

std::int64_t RowSumBlocks::before(std::int64_t cta) const {
    return std::min(cta / kernel_.parts * kernel_.rows_of_cta(), kernel_.rows);
}

std::int64_t RowSumBlocks::column(std::int64_t cta, std::int64_t round) const {
    const std::int64_t own = kernel_.taps_of_part();
    const std::int64_t begin = std::min(cta % kernel_.parts * own, kernel_.cols);
    const std::int64_t end = std::min(begin + own, kernel_.cols);
    return std::min(begin + round * kernel_.row_threads * VectorKernel::kUnderWay, end);
}

TileAccess RowSumBlocks::reads(CtaRange range, std::int64_t step) const {
    if (step >= kernel_.trips()) return reads_of_sums(range);
    TileAccess access;
    access.sms = range.count;
    const MatrixPlace& matrix = plan_.in.front().place;
    const std::int64_t row_bytes = matrix.bytes.value() / kernel_.rows;
    const auto at = [&](std::int64_t column) { return row_bytes * column / kernel_.cols; };
    // What rows have behind a round is asked for by the next one: perhaps later than the L2 would hold it.
    const MatrixRange whole = kernel_.trips() > 1 ? MatrixRange{} : matrix.range();
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const std::int64_t first = before(cta);
        const std::int64_t rows = before((cta / kernel_.parts + 1) * kernel_.parts) - first;
        const std::int64_t from = rows * at(column(cta, step)), until = rows * at(column(cta, step + 1));
        add(matrix, first * row_bytes + from, first * row_bytes + until, whole, access);
        access.bytes_of_sm = std::max(access.bytes_of_sm, until - from);
    }
    return access;
}

TileAccess::Block RowSumBlocks::sums(std::int64_t cta, std::int64_t first, std::int64_t count) const {
    const std::int64_t begin = (before(cta) * kernel_.parts + first) * kSumBytes;
    return {plan_.sums.address + begin, count * kSumBytes, 1, plan_.sums.operand, plan_.sums.range()};
}

TileAccess RowSumBlocks::reads_of_sums(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        if (cta % kernel_.parts != 0) continue;
        access.blocks.push_back(sums(cta, 0, kernel_.parts));
        access.bytes_of_sm = access.blocks.back().bytes;
    }
    return access;
}

// Of CTAs that share a row all store sums, and the first one the result.
TileAccess RowSumBlocks::writes(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    const MatrixPlace& to = plan_.to.place;
    const auto at = [&](std::int64_t row) {
        return static_cast<std::int64_t>(Int128{to.bytes.value()} * row / kernel_.rows);
    };
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const bool first = cta % kernel_.parts == 0;
        const std::int64_t begin = at(before(cta)), end = first ? at(before(cta + kernel_.parts)) : begin;
        if (kernel_.parts > 1) access.blocks.push_back(sums(cta, cta % kernel_.parts, 1));
        add(to, begin, end, to.range(), access);
        access.bytes_of_sm = std::max(access.bytes_of_sm, end - begin + (kernel_.parts > 1 ? kSumBytes : 0));
    }
    return access;
}

}  // namespace systole::simt
