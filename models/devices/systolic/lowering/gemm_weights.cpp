// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/gemm_weights.h"

namespace systole::systolic {
namespace {

Transfer into_fifo(Region from, std::int64_t rows, std::int64_t row_bytes, Operand operand) {
    return {from, {Place::WeightFifo, 0, row_bytes}, rows, row_bytes, operand};
}

/// `vectors` vectors of `bytes`, `pitch` apart.
PassRead vectors_from(std::int64_t address, std::int64_t vectors, std::int64_t bytes, std::int64_t pitch) {
    PassRead read;
    read.address = address;
    read.stream.segments = {{Bytes(0), Bytes(bytes)}};
    read.stream.levels[2] = {vectors, Bytes(pitch)};
    return read;
}

}  // namespace

Staging StoredWeights::staging(std::int64_t item, Range n, Range k) const {
    const std::int64_t columns = ceil_div(n.count, tile_cols_);
    const std::int64_t bytes = k.count * row_;
    return {tensor_,
            Operand::Weights,
            columns * bytes,
            {{{offset(item, n, k), columns, bytes, column_}, 0, bytes}}};
}

Transfer StoredWeights::from_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const {
    const std::int64_t column = (n.begin - staged_n.begin) / tile_cols_ * staged_k.count * row_;
    const std::int64_t address = base + column + (k.begin - staged_k.begin) * row_;
    return into_fifo({Place::Scratchpad, address, 0}, 1, k.count * row_, Operand::Weights);
}

Transfer StoredWeights::from_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const {
    return into_fifo(flow.region(tensor_, {offset(item, n, k), 1, k.count * row_, 0}), 1, k.count * row_,
                     Operand::Weights);
}

PassRead StoredWeights::rows_from(std::int64_t address, Range n, Range k) const {
    return vectors_from(address, k.count, row_bytes(each_, n.count).value(), row_);
}

PassRead StoredWeights::read_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const {
    return rows_from(from_tile(base, staged_n, staged_k, n, k).from.address, n, k);
}

PassRead StoredWeights::read_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const {
    return rows_from(flow.region(tensor_, {offset(item, n, k), 1, 0, 0}).address, n, k);
}

Range StoredWeights::extent(std::int64_t item, Range n, Range k) const {
    const std::int64_t columns = ceil_div(n.count, tile_cols_);
    return {offset(item, n, k), (columns - 1) * column_ + k.count * row_};
}

TensorBox RowWeights::box(std::int64_t item, Range n, Range k) const {
    const std::int64_t begin =
        items_.begin + item / items_.inside * items_.stride + item % items_.inside * items_.step;
    const Range &rows = transposed_ ? n : k, &cols = transposed_ ? k : n;
    return {begin + rows.begin * items_.pitch + bytes(cols.begin), rows.count, bytes(cols.count),
            items_.pitch};
}

Staging RowWeights::staging(std::int64_t item, Range n, Range k) const {
    const TensorBox from = box(item, n, k);
    return {tensor_, operand_, from.bytes(), {{from, 0, from.row_bytes}}};
}

Transfer RowWeights::from_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const {
    const std::int64_t dn = n.begin - staged_n.begin;
    const std::int64_t dk = k.begin - staged_k.begin;
    if (transposed_) {
        const std::int64_t pitch = bytes(staged_k.count);
        return into_fifo({Place::Scratchpad, base + dn * pitch + bytes(dk), pitch}, n.count, bytes(k.count),
                         operand_);
    }
    const std::int64_t pitch = bytes(staged_n.count);
    return into_fifo({Place::Scratchpad, base + dk * pitch + bytes(dn), pitch}, k.count, bytes(n.count),
                     operand_);
}

Transfer RowWeights::from_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const {
    const TensorBox from = box(item, n, k);
    return into_fifo(flow.region(tensor_, from), from.rows, from.row_bytes, operand_);
}

PassRead RowWeights::read_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const {
    const std::int64_t dn = n.begin - staged_n.begin;
    const std::int64_t dk = k.begin - staged_k.begin;
    if (transposed_) {
        const std::int64_t pitch = bytes(staged_k.count);
        return vectors_from(base + dn * pitch + bytes(dk), n.count, bytes(k.count), pitch);
    }
    const std::int64_t pitch = bytes(staged_n.count);
    return vectors_from(base + dk * pitch + bytes(dn), k.count, bytes(n.count), pitch);
}

PassRead RowWeights::read_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const {
    const TensorBox from = box(item, n, k);
    return vectors_from(flow.region(tensor_, from).address, from.rows, from.row_bytes, from.stride);
}

std::int64_t RowWeights::uniform_until(Range k) const {
    return !transposed_ || each_.bits * k.count % (8 * each_.weights) == 0 ? k_ : k.end();
}

Range RowWeights::extent(std::int64_t item, Range n, Range k) const {
    const TensorBox from = box(item, n, k);
    return {from.offset, from.end() - from.offset};
}

std::int64_t RowWeights::tile_bytes(std::int64_t cols, std::int64_t depth) const {
    return transposed_ ? cols * bytes(depth) : depth * bytes(cols);
}

}  // namespace systole::systolic
