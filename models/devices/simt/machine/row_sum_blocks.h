// SPDX-License-Identifier: Apache-2.0
// What CTAs of a reduction read and write: of their rows, or parts of one, round by round; a result of each
// row, and where CTAs share rows, sums, which the first of them adds up. Of rows side by side, rounds lie one
// behind the other, as steps of a product do (MatrixPlace): of each row a round has 256 bytes or so, and
// stripes of the memory that bring what lies behind them would be gone before the next rounds.
#pragma once

#include "models/devices/simt/machine/cta_work.h"

namespace systole::simt {

class RowSumBlocks final : public CtaWork {
public:
    explicit RowSumBlocks(const VectorPlan& plan) : plan_(plan), kernel_(plan.kernel) {}

    std::int64_t ctas() const override { return kernel_.ctas(); }
    std::int64_t steps(std::int64_t) const override { return kernel_.trips(); }
    TileAccess reads(CtaRange range, std::int64_t step) const override;
    TileAccess writes(CtaRange range) const override;
    std::int64_t macs(CtaRange) const override { return 0; }

private:
    /// Rows of CTAs before `cta`.
    std::int64_t before(std::int64_t cta) const;
    /// First column of a CTA's round; that behind its last one is that of its last round.
    std::int64_t column(std::int64_t cta, std::int64_t round) const;
    /// Sums of parts [first, first + count) of the row of CTA `cta`.
    TileAccess::Block sums(std::int64_t cta, std::int64_t first, std::int64_t count) const;
    TileAccess reads_of_sums(CtaRange range) const;

    const VectorPlan& plan_;
    const VectorKernel& kernel_;
};

}  // namespace systole::simt
