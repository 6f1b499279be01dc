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

Staging UntiledWeights::staging(std::int64_t item, Range n, Range k) const {
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
