// SPDX-License-Identifier: Apache-2.0
// The queries of attention as the streamed operand: rows of heads in the order of HeadLayout. A block is
// several whole positions, or some heads of one, so that a resident tensor is read in place by an affine
// pattern.
#pragma once

#include "models/devices/systolic/lowering/gemm_input.h"
#include "models/devices/systolic/lowering/gemm_weights.h"
#include "models/devices/systolic/lowering/head_layout.h"
#include "models/devices/systolic/lowering/workspace.h"

namespace systole::systolic {

class HeadsInput : public GemmInput {
public:
    HeadsInput(TensorId tensor, DType dtype, const Attention& op, bool resident)
        : tensor_(tensor),
          dtype_(dtype),
          layout_(op, op.row_dim(), dtype),
          items_(op.items()),
          resident_(resident) {}

    /// Of all rows: heads are shared, not rows.
    void share(const CoreShare& core) override;
    std::int64_t shared_rows() const override { return layout_.rows(); }
    RowBlocking blocking(std::int64_t rows, std::int64_t k_tile) const override;
    void cut(std::int64_t rows) override { cut_ = cut_of(rows); }
    std::int64_t blocks() const override { return cut_.blocks; }
    Range rows(std::int64_t block) const override;
    bool sliced() const override { return true; }
    Staging staging(std::int64_t item, std::int64_t block, Range k) const override;
    PassRead read(std::int64_t item, std::int64_t block, Range staged_k, Range k,
                  std::int64_t base) const override;
    std::int64_t uniform_until(Range k) const override;
    Range extent(std::int64_t item, std::int64_t block) const override;
    std::int64_t covered_bytes() const override {
        return items_ * layout_.rows() * layout_.bytes(layout_.dim());
    }

private:
    struct Cut {
        std::int64_t rows = 1;     ///< of a block
        std::int64_t a_group = 1;  ///< blocks of one position, where a block is not whole positions
        std::int64_t blocks = 1;
    };
    Cut cut_of(std::int64_t rows) const;

    TensorId tensor_;
    DType dtype_;
    HeadLayout layout_;
    std::int64_t items_;
    bool resident_;
    Cut cut_;
};

/// Keys (or values that stand for them, `of_values`), whose rows are columns of N, or values, as the second
/// operand.
RowWeights attention_second(const Workspace& workspace, const Attention& op, TensorId tensor, bool keys);

}  // namespace systole::systolic
