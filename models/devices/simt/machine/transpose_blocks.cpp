// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/transpose_blocks.h"

#include <algorithm>

namespace systole::simt {
namespace {

/// So many elements from number `begin` on; one block with those before, where they follow these.
void add(const VectorOperand& operand, std::int64_t begin, std::int64_t count, TileAccess& access) {
    const MatrixPlace& matrix = operand.place;
    const auto byte_of = [&](std::int64_t element) {
        return static_cast<std::int64_t>(Int128{matrix.bytes.value()} * element / operand.elements);
    };
    const std::int64_t address = matrix.address + byte_of(begin);
    const std::int64_t bytes = byte_of(begin + count) - byte_of(begin);
    access.bytes_of_sm = std::max(access.bytes_of_sm, bytes);
    if (!access.blocks.empty()) {
        TileAccess::Block& last = access.blocks.back();
        if (last.address + last.bytes == address) {
            last.bytes += bytes;
            return;
        }
    }
    if (bytes > 0) access.blocks.push_back({address, bytes, 1, matrix.operand, matrix.range()});
}

/// Elements of all matrices before the tile's.
std::int64_t matrices_before(const Turn& turn, std::int64_t cta) {
    return cta / (turn.tiles_across() * turn.tiles_down()) * turn.rows * turn.cols;
}

}  // namespace

TileAccess TransposeBlocks::reads(CtaRange range, std::int64_t) const {
    TileAccess access;
    access.sms = range.count;
    access.short_rows = turn_.tiles_across() > 1 || turn_.row_stride != turn_.cols;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const TurnTile tile = tile_of(turn_, cta);
        const std::int64_t rows_before = tile.row * turn_.cols;
        add(plan_.in.front(), matrices_before(turn_, cta) + rows_before + tile.rows * tile.col,
            tile.rows * tile.cols, access);
    }
    return access;
}

TileAccess TransposeBlocks::writes(CtaRange range) const {
    TileAccess access;
    access.sms = range.count;
    access.short_rows = turn_.tiles_down() > 1 || turn_.col_stride != turn_.rows;
    for (std::int64_t cta = range.first; cta < range.end(); cta += range.stride) {
        const TurnTile tile = tile_of(turn_, cta);
        const std::int64_t columns_before = tile.col * turn_.rows;
        add(plan_.to, matrices_before(turn_, cta) + columns_before + tile.cols * tile.row,
            tile.rows * tile.cols, access);
    }
    return access;
}

}  // namespace systole::simt
