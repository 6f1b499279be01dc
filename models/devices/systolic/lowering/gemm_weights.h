// SPDX-License-Identifier: Apache-2.0
// The second operand of a matrix operator, w[k, n]: stored weights in their layout, or an activation. Blocks
// of it are staged where the machine's arrays or weight FIFOs read from the scratchpad; tiles go into a FIFO
// one by one, or the edge of an array reads them.
#pragma once

#include <cstdint>

#include "models/devices/systolic/lowering/gemm_input.h"

namespace systole::systolic {

class GemmWeights {
public:
    virtual ~GemmWeights() = default;

    /// Columns `n` of an item by rows `k` as one tile of the weight ring.
    virtual Staging staging(std::int64_t item, Range n, Range k) const = 0;
    /// Columns `n` by rows `k` on their way into the FIFO: out of the tile staged at `base` for
    /// (staged_n, staged_k).
    virtual Transfer from_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const = 0;
    /// The same out of the tensor where it lies.
    virtual Transfer from_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const = 0;
    /// Columns `n` by rows `k` as an edge of the array reads them: out of the tile staged at `base` for
    /// (staged_n, staged_k).
    virtual PassRead read_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const = 0;
    /// The same out of the tensor where it lies.
    virtual PassRead read_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const = 0;
    /// As GemmInput's.
    virtual std::int64_t uniform_until(Range k) const = 0;
    /// Bytes of the tensor between the first and the last of an item's block.
    virtual Range extent(std::int64_t item, Range n, Range k) const = 0;
    /// One K tile by one N tile.
    virtual std::int64_t tile_bytes(std::int64_t cols, std::int64_t depth) const = 0;
};

/// Layout::Tiled. A column of tiles is one row-major matrix [k padded, tile_cols]: any range of its rows is
/// contiguous, whatever the K tiles of the passes are. Of packed weights every row has an even share of the
/// bytes that its pattern or group takes.
class StoredWeights : public GemmWeights {
public:
    /// `begin`: of this matrix, where the tensor is several.
    StoredWeights(TensorId tensor, BitsPerWeight each, const Placement& placement, std::int64_t n,
                  std::int64_t k, std::int64_t begin = 0)
        : tensor_(tensor),
          each_(each),
          k_(k),
          row_(row_bytes(each, placement.tile_cols).value()),
          tile_cols_(placement.tile_cols),
          column_(round_up(k, placement.tile_rows) * row_),
          item_(ceil_div(n, tile_cols_) * column_),
          begin_(begin) {}

    Staging staging(std::int64_t item, Range n, Range k) const override;
    Transfer from_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const override;
    Transfer from_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const override;
    PassRead read_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const override;
    PassRead read_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const override;
    std::int64_t uniform_until(Range) const override { return k_; }
    Range extent(std::int64_t item, Range n, Range k) const override;
    std::int64_t tile_bytes(std::int64_t, std::int64_t depth) const override { return depth * row_; }

private:
    std::int64_t offset(std::int64_t item, Range n, Range k) const {
        return begin_ + item * item_ + n.begin / tile_cols_ * column_ + k.begin * row_;
    }
    PassRead rows_from(std::int64_t address, Range n, Range k) const;

    TensorId tensor_;
    BitsPerWeight each_;
    std::int64_t k_;
    std::int64_t row_, tile_cols_, column_, item_, begin_;  ///< bytes, except tile_cols_
};

/// Where the items of a second operand lie, in bytes: `inside` of them `step` apart, and so on every
/// `stride`; rows of an item are `pitch` apart. All 0: one item behind the other, rows without gaps.
struct ItemsApart {
    std::int64_t inside = 0, step = 0, stride = 0, pitch = 0;
    std::int64_t begin = 0;  ///< of the first
};

/// Row-major [items, k, n], or [items, n, k] when transposed: then a tile's rows are its columns of N, and
/// the array takes them sideways (the same bytes). Activations, and stored weights in Layout::ColumnMajor.
class RowWeights : public GemmWeights {
public:
    RowWeights(TensorId tensor, BitsPerWeight each, Operand operand, std::int64_t n, std::int64_t k,
               bool transposed, ItemsApart items = {})
        : tensor_(tensor),
          each_(each),
          operand_(operand),
          n_(n),
          k_(k),
          transposed_(transposed),
          items_(items) {
        if (items_.inside != 0) return;
        items_.pitch = bytes(transposed_ ? k_ : n_);
        items_ = {1, 0, (transposed_ ? n_ : k_) * items_.pitch, items_.pitch, items_.begin};
    }

    Staging staging(std::int64_t item, Range n, Range k) const override;
    Transfer from_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const override;
    Transfer from_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const override;
    PassRead read_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const override;
    PassRead read_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const override;
    std::int64_t uniform_until(Range k) const override;
    Range extent(std::int64_t item, Range n, Range k) const override;
    std::int64_t tile_bytes(std::int64_t cols, std::int64_t depth) const override;

private:
    /// The block as it lies in the tensor.
    TensorBox box(std::int64_t item, Range n, Range k) const;
    std::int64_t bytes(std::int64_t elements) const { return row_bytes(each_, elements).value(); }

    TensorId tensor_;
    BitsPerWeight each_;
    Operand operand_;
    std::int64_t n_, k_;
    bool transposed_;
    ItemsApart items_;
};

}  // namespace systole::systolic
