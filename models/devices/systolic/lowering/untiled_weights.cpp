// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/untiled_weights.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::systolic {

std::vector<TensorBox> UntiledWeights::boxes(std::int64_t item, Range n, Range k) const {
    const Range &rows = turned_ ? n : k, &cols = turned_ ? k : n;
    std::vector<TensorBox> all;
    for (std::int64_t at = cols.begin; at < cols.end();) {
        const std::int64_t inside = at % tile_cols_;
        const std::int64_t count = std::min(tile_cols_ - inside, cols.end() - at);
        const std::int64_t begin =
            item * item_ + at / tile_cols_ * column_ + rows.begin * row_ + bytes(inside);
        all.push_back({begin, rows.count, bytes(count), row_});
        at += count;
    }
    return all;
}

TensorBox UntiledWeights::box(std::int64_t item, Range n, Range k) const {
    const std::vector<TensorBox> all = boxes(item, n, k);
    SYSTOLE_CHECK(all.size() == 1, "a tile in {} columns of tiles", all.size());
    return all.front();
}

UntiledWeights::Column UntiledWeights::column_of(std::int64_t base, Range staged_n, Range staged_k,
                                                 Range k) const {
    if (!by_columns_) return {base, staged_k};
    const std::int64_t first = staged_k.begin / tile_cols_, column = k.begin / tile_cols_;
    const std::int64_t begin = std::max(staged_k.begin, column * tile_cols_);
    const std::int64_t end = std::min(staged_k.end(), (column + 1) * tile_cols_);
    if (column == first) return {base, {begin, end - begin}};
    const std::int64_t before =
        bytes((first + 1) * tile_cols_ - staged_k.begin) + (column - first - 1) * row_;
    return {base + staged_n.count * before, {begin, end - begin}};
}

std::int64_t UntiledWeights::uniform_until(Range k) const {
    const std::int64_t until = staged_.uniform_until(k);
    if (!by_columns_ || k.count == tile_cols_) return until;
    return std::min(until, (k.begin / tile_cols_ + 1) * tile_cols_);
}

/// Of whole columns of tiles the block's rows are one run in each.
Staging UntiledWeights::staged_columns(const std::vector<TensorBox>& columns) const {
    Staging staging{tensor_, Operand::Weights, 0, {}};
    for (const TensorBox& from : columns) {
        const bool whole = from.row_bytes == row_;
        const TensorBox run = whole ? TensorBox{from.offset, 1, from.bytes(), column_} : from;
        const bool follows =
            whole && !staging.copies.empty() && staging.copies.back().from.row_bytes == run.row_bytes;
        if (follows)
            ++staging.copies.back().from.rows;
        else
            staging.copies.push_back({run, staging.bytes, run.row_bytes});
        staging.bytes += from.bytes();
    }
    return staging;
}

Staging UntiledWeights::staging(std::int64_t item, Range n, Range k) const {
    if (by_columns_) return staged_columns(boxes(item, n, k));
    const std::int64_t pitch = bytes(turned_ ? k.count : n.count);
    Staging staging{tensor_, Operand::Weights, (turned_ ? n : k).count * pitch, {}};
    std::int64_t to = 0;
    for (const TensorBox& from : boxes(item, n, k)) {
        staging.copies.push_back({from, to, pitch});
        to += from.row_bytes;
    }
    return staging;
}

Transfer UntiledWeights::from_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const {
    const TensorBox from = box(item, n, k);
    return {flow.region(tensor_, from),
            {Place::WeightFifo, 0, from.row_bytes},
            from.rows,
            from.row_bytes,
            Operand::Weights};
}

PassRead UntiledWeights::read_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const {
    const TensorBox from = box(item, n, k);
    PassRead read;
    read.address = flow.region(tensor_, from).address;
    read.stream.segments = {{Bytes(0), Bytes(from.row_bytes)}};
    read.stream.levels[2] = {from.rows, Bytes(from.stride)};
    return read;
}

Range UntiledWeights::extent(std::int64_t item, Range n, Range k) const {
    const std::vector<TensorBox> all = boxes(item, n, k);
    return {all.front().offset, all.back().end() - all.front().offset};
}

}  // namespace systole::systolic
