// SPDX-License-Identifier: Apache-2.0
// What one matrix unit computes in a round: a block of outputs, cut into the output tiles that an array of
// its dataflow makes at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/devices/systolic/lowering/buffer_ring.h"
#include "models/devices/systolic/lowering/staging.h"
#include "models/devices/systolic/spec/spec.h"

namespace systole::systolic {

/// The largest output tile of an array: what stays on it (or streams) in one pass. 0: as much as there is.
struct OutputShape {
    std::int64_t m = 0, n = 0;
    /// A block's columns are multiples of this, where it does not end at the last one.
    std::int64_t n_unit = 1;
    /// Accumulator rows of a tile are rows of M; otherwise (is) rows of N, and draining turns the tile.
    bool rows_are_m = true;

    /// Tiles along M of a block of `rows`.
    std::int64_t m_tiles(std::int64_t rows) const { return m == 0 ? 1 : ceil_div(rows, m); }
    /// Accumulator rows that a block of `rows` by `columns` takes.
    std::int64_t accumulator_rows(std::int64_t rows, std::int64_t columns) const;
};

/// Of the arrays of a machine, with half of the accumulators for each of two blocks.
OutputShape output_shape(const MxuSpec& mxu);

struct OutputTile {
    Range m, n;  ///< of the item
    BufferTile* accumulators = nullptr;
    Tokens room;  ///< the last drains of those rows
    Token done;   ///< its latest pass
};

/// The part of a round that one matrix unit computes.
struct Block {
    int mxu = 0;
    std::int64_t item = 0, m_block = 0;
    Range m, n;
    std::vector<OutputTile> tiles;  ///< row by row, so that rows are complete, and leave, one after the other
    BufferTile* input = nullptr;    ///< staged for the step at work; none: read in place
    BufferTile* weights = nullptr;
    bool fresh = true;  ///< has not waited for them yet
    /// Pattern and address of the activations that the step reads from each of its K tiles on, once looked
    /// up.
    struct Read {
        std::uint32_t stream = 0;
        std::int64_t address = 0;
    };
    std::vector<std::optional<Read>> reads;
};

/// Fills in the tiles of a block, without accumulators.
void cut(Block& block, const OutputShape& shape);

}  // namespace systole::systolic
