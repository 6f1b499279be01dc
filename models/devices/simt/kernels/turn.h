// SPDX-License-Identifier: Apache-2.0
// Transposes that move the last dimension: two dimensions change places, the one whose elements lie one
// behind the other as it is read and the one whose elements do as it is written, and all others are a batch
// of matrices. Tiles of both go through shared memory, so that rows are loaded, and columns stored, by
// neighbouring threads ("An Efficient Matrix Transpose in CUDA C/C++", NVIDIA Technical Blog, 2013: tiles of
// 32 x 32, 256 threads, a column more in shared memory against conflicts of banks).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/workload/dtype.h"
#include "sim/workload/operators.h"

namespace systole::simt {

struct Turn {
    struct Dim {
        std::int64_t extent = 1, in = 1, out = 1;  ///< elements from index to index, as read and as written
        friend auto operator<=>(const Dim&, const Dim&) = default;
    };
    /// Of each matrix as it is read. Columns lie one behind the other there, and rows as it is written.
    std::int64_t rows = 1, cols = 1;
    std::int64_t row_stride = 1;  ///< elements from row to row, as read
    std::int64_t col_stride = 1;  ///< from column to column, as written
    std::vector<Dim> batch = {};  ///< of matrices, outermost first
    std::int64_t tile_rows = 1, tile_cols = 1;
    std::int64_t word = 1;  ///< elements of a thread's load or store

    static constexpr int kThreads = 256;

    std::int64_t tiles_down() const { return ceil_div(rows, tile_rows); }
    std::int64_t tiles_across() const { return ceil_div(cols, tile_cols); }
    std::int64_t matrices() const;
    std::int64_t ctas() const { return matrices() * tiles_down() * tiles_across(); }
    /// Loads (and stores) of each thread.
    std::int64_t words_of_thread() const { return ceil_div(tile_rows * tile_cols, kThreads * word); }
    /// What a CTA goes by itself: a matrix of one tile.
    Turn of_tile() const;
    friend auto operator<=>(const Turn&, const Turn&) = default;
};

/// Nothing where the last dimension stays where it is.
std::optional<Turn> turn_of(const Transpose& transpose, DType dtype);

/// Where a CTA's tile lies: neighbours have the next columns, then the next rows, then the next matrix.
struct TurnTile {
    std::int64_t in = 0, out = 0;  ///< first element of its matrix, as read and as written
    std::int64_t row = 0, col = 0;
    std::int64_t rows = 0, cols = 0;  ///< that lie in the matrix
};
TurnTile tile_of(const Turn& turn, std::int64_t cta);

}  // namespace systole::simt
