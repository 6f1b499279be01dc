// SPDX-License-Identifier: Apache-2.0
// What CTAs of the kernel ahead of attention read and write (kernels/qkv_kernel.h): rows of a head of
// queries, of the keys and values that it shares, and cosines and sines of their positions; those of the
// first head of a set write keys and values, too. Rows of a head lie one behind the other, as attention has
// them (AttentionPlan), or, of one new row a sequence, those of all sequences: what a row's heads lie apart
// is met by others at about the same time. Where these come much later (a warp for each position), a real
// kernel reads a few lines each, which reach less of the memory's bandwidth (TileAccess::short_rows).
#pragma once

#include "models/devices/simt/machine/cta_work.h"

namespace systole::simt {

class QkvBlocks final : public CtaWork {
public:
    explicit QkvBlocks(const VectorPlan& plan) : plan_(plan), rows_(plan.kernel.qkv) {}

    std::int64_t ctas() const override { return rows_.ctas(); }
    std::int64_t steps(std::int64_t) const override { return rows_.rounds(); }
    TileAccess reads(CtaRange range, std::int64_t step) const override;
    TileAccess writes(CtaRange range) const override;
    std::int64_t macs(CtaRange) const override { return 0; }

private:
    /// Rows of head number `head` of a matrix that has so many of them in each row. Answers their bytes.
    std::int64_t add_rows(const MatrixPlace& matrix, std::int64_t heads, const QkvRows::Part& part,
                          std::int64_t head, TileAccess& access) const;
    /// Those of queries (0), keys or values that a part reads.
    std::int64_t add_operand(std::size_t operand, const QkvRows::Part& part, TileAccess& access) const;
    std::int64_t add_angles(const QkvRows::Part& part, TileAccess& access) const;
    std::int64_t add_cached(const MatrixPlace& cache, const QkvRows::Part& part, TileAccess& access) const;

    const VectorPlan& plan_;
    const QkvRows& rows_;
};

}  // namespace systole::simt
