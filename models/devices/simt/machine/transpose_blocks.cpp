// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/transpose_blocks.h"

#include <algorithm>

namespace systole::simt {
namespace {

/// Elements [begin, end); one block with those before, where it follows them.
void add(const VectorOperand& operand, std::int64_t begin, std::int64_t end, TileAccess& access) {
    const MatrixPlace& matrix = operand.place;
    const auto byte_of = [&](std::int64_t element) {
        return static_cast<std::int64_t>(Int128{matrix.bytes.value()} * element / operand.elements);
    };
    const std::int64_t from = byte_of(begin), until = byte_of(end);
    if (from == until) return;
    const std::int64_t address = matrix.address + from;
    if (!access.blocks.empty()) {
        TileAccess::Block& last = access.blocks.back();
        if (last.address + last.bytes == address && last.matrix == matrix.range()) {
            last.bytes += until - from;
            return;
        }
    }
    access.blocks.push_back({address, until - from, 1, matrix.operand, matrix.range()});
}

/// Of an SM's tile: what its port has to carry.
std::int64_t bytes_of(const VectorOperand& operand, const TurnTile& tile) {
    return static_cast<std::int64_t>(Int128{operand.place.bytes.value()} * (tile.rows * tile.cols) /
                                     operand.elements);
}

}  // namespace

void TransposeBlocks::add_rows(const TurnTile& tile, TileAccess& access) const {
    for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
        const std::int64_t begin = tile.in + row * turn_.row_stride + tile.col;
        add(plan_.in.front(), begin, begin + tile.cols, access);
    }
}

void TransposeBlocks::add_columns(const TurnTile& tile, TileAccess& access) const {
    for (std::int64_t col = tile.col; col < tile.col + tile.cols; ++col) {
        const std::int64_t begin = tile.out + col * turn_.col_stride + tile.row;
        add(plan_.to, begin, begin + tile.rows, access);
    }
}

// Tiles beside each other read the same rows: of each row, one block for all of them.
TileAccess TransposeBlocks::reads(CtaRange range, std::int64_t) const {
    TileAccess access;
    access.sms = range.count;
    const std::int64_t end = range.first + range.count;
    for (std::int64_t cta = range.first; cta < end;) {
        TurnTile tile = tile_of(turn_, cta);
        const std::int64_t left = turn_.tiles_across() - cta % turn_.tiles_across();
        const std::int64_t beside = std::min(left, end - cta);
        access.bytes_of_sm = std::max(access.bytes_of_sm, bytes_of(plan_.in.front(), tile));
        const TurnTile last = tile_of(turn_, cta + beside - 1);
        tile.cols = last.col + last.cols - tile.col;
        add_rows(tile, access);
        cta += beside;
    }
    return access;
}

TileAccess TransposeBlocks::writes(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    for (std::int64_t cta = range.first; cta < range.first + range.count; ++cta) {
        const TurnTile tile = tile_of(turn_, cta);
        access.bytes_of_sm = std::max(access.bytes_of_sm, bytes_of(plan_.to, tile));
        add_columns(tile, access);
    }
    return access;
}

}  // namespace systole::simt
