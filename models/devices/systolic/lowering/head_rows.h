// SPDX-License-Identifier: Apache-2.0
// Rows of queries as the second operand, w[k, n]: of an item, row k is that of a position and a head of the
// group (gradients of keys and values).
#pragma once

#include <cstdint>

#include "models/devices/systolic/lowering/gemm_weights.h"
#include "models/devices/systolic/lowering/head_layout.h"

namespace systole::systolic {

class HeadRows : public GemmWeights {
public:
    HeadRows(TensorId tensor, BitsPerWeight each, Operand operand, const HeadLayout& layout)
        : tensor_(tensor),
          operand_(operand),
          layout_(layout),
          staged_(tensor, each, operand, layout.dim(), layout.rows(), false) {}

    Staging staging(std::int64_t item, Range n, Range k) const override;
    Transfer from_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const override {
        return staged_.from_tile(base, staged_n, staged_k, n, k);
    }
    /// In place, rows must lie evenly, or be whole positions (all columns of them, on their way into a FIFO),
    /// or heads of one.
    Transfer from_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const override;
    PassRead read_tile(std::int64_t base, Range staged_n, Range staged_k, Range n, Range k) const override {
        return staged_.read_tile(base, staged_n, staged_k, n, k);
    }
    PassRead read_tensor(const TensorFlow& flow, std::int64_t item, Range n, Range k) const override;
    std::int64_t uniform_until(Range k) const override;
    Range extent(std::int64_t item, Range, Range k) const override { return layout_.extent(item, k); }
    std::int64_t tile_bytes(std::int64_t cols, std::int64_t depth) const override {
        return staged_.tile_bytes(cols, depth);
    }

private:
    /// Of rows in place: so many groups of them, `pitch` apart, in each so many rows, `step` apart.
    struct Rows {
        std::int64_t groups = 1, pitch = 0, rows = 1, step = 0;
    };
    Rows rows(Range k) const;

    TensorId tensor_;
    Operand operand_;
    HeadLayout layout_;
    RowWeights staged_;  ///< what a staged block looks like
};

}  // namespace systole::systolic
