// SPDX-License-Identifier: Apache-2.0
// Stored weights in tiles, of which a layer takes other pieces than those they were cut into: the product
// with a matrix that an earlier layer has laid out the other way round (the gradient of its input), or arrays
// that take more columns at a time than a tile has.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/systolic/lowering/gemm_weights.h"

namespace systole::systolic {

/// Layout::Tiled over the view [k, n] of the layer that owns them; `turned`: over [n, k]. Then rows of the
/// tiles are columns of N, which the array takes sideways, and a column of tiles is a range of K. Staged, a
/// block is a row-major matrix again; or, where no K tile leaves its column of tiles, one for each column:
/// then it comes in long runs. Read where they lie, K tiles must keep to their columns, too.
class UntiledWeights : public GemmWeights {
public:
    /// `by_columns`: blocks are staged column of tiles by column, for weights that are turned.
    UntiledWeights(TensorId tensor, BitsPerWeight each, const Placement& placement, std::int64_t n,
                   std::int64_t k, bool turned, bool by_columns)
        : tensor_(tensor),
          each_(each),
          turned_(turned),
          by_columns_(by_columns),
          tile_cols_(placement.tile_cols),
          row_(row_bytes(each, placement.tile_cols).value()),
          column_(round_up(turned ? n : k, placement.tile_rows) * row_),
          item_(ceil_div(turned ? k : n, tile_cols_) * column_),
          staged_(tensor, each, Operand::Weights, n, k, turned) {}

    Staging staging(std::int64_t item, Range n, Range k) const override;
    Transfer from_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const override {
        const Column c = column_of(base, staged_n, staged_k, k);
        return staged_.from_tile(c.base, staged_n, c.k, n, k);
    }
    Transfer from_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const override;
    PassRead read_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const override {
        const Column c = column_of(base, staged_n, staged_k, k);
        return staged_.read_tile(c.base, staged_n, c.k, n, k);
    }
    PassRead read_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const override;
    std::int64_t uniform_until(Range k) const override;
    Range extent(std::int64_t item, Range n, Range k) const override;
    std::int64_t tile_bytes(std::int64_t cols, std::int64_t depth) const override {
        return staged_.tile_bytes(cols, depth);
    }

private:
    std::int64_t bytes(std::int64_t elements) const { return row_bytes(each_, elements).value(); }
    /// The block as it lies: a box in each column of tiles.
    std::vector<TensorBox> boxes(std::int64_t item, Range n, Range k) const;
    /// Of a block in a single one.
    TensorBox box(std::int64_t item, Range n, Range k) const;

    /// Of a staged block: the matrix that has elements `k`.
    struct Column {
        std::int64_t base = 0;
        Range k;
    };
    Staging staged_columns(const std::vector<TensorBox>& columns) const;
    Column column_of(std::int64_t base, Range staged_n, Range staged_k, Range k) const;

    TensorId tensor_;
    BitsPerWeight each_;
    bool turned_, by_columns_;
    std::int64_t tile_cols_;
    std::int64_t row_, column_, item_;  ///< bytes: of a tile's row, of a column of tiles, of a matrix
    RowWeights staged_;                 ///< what a staged matrix looks like
};

}  // namespace systole::systolic
