// SPDX-License-Identifier: Apache-2.0
// What CTAs of a kernel that no tensor core works in read and write: elements one behind the other, or rows.
#pragma once

#include <span>

#include "models/devices/simt/machine/cta_work.h"

namespace systole::simt {

class VectorBlocks final : public CtaWork {
public:
    explicit VectorBlocks(const VectorPlan& plan) : plan_(plan), kernel_(plan.kernel) {}

    std::int64_t ctas() const override { return kernel_.ctas(); }
    std::int64_t steps(std::int64_t) const override { return kernel_.steps(); }
    TileAccess reads(CtaRange range, std::int64_t step) const override;
    TileAccess writes(CtaRange range) const override;
    std::int64_t macs(CtaRange) const override { return 0; }

private:
    /// Of all results (or rows), those of CTAs before `cta`.
    std::int64_t before(std::int64_t cta) const;
    std::int64_t all() const;
    /// What lies behind each other for CTAs behind each other: one block.
    void add_shares(const MatrixPlace& matrix, CtaRange range, TileAccess& access) const;
    /// Of a tensor in which results have elements that lie apart, or that others have, too, each CTA's part.
    void add_mapped(const VectorOperand& operand, std::span<const OperandMap> maps, CtaRange range,
                    TileAccess& access) const;
    /// Of a table, the rows of bags, and of each that part which the CTA has; or their indices.
    void add_rows(CtaRange range, std::int64_t number, TileAccess& access) const;
    void add_indices(CtaRange range, TileAccess& access) const;
    /// Of results of all lookups, one row of each behind the other, the parts of CTAs that go through them.
    void add_parts(const MatrixPlace& matrix, CtaRange range, TileAccess& access) const;
    /// Of each CTA's row, what a round reads.
    void add_round(const MatrixPlace& matrix, CtaRange range, std::int64_t round, TileAccess& access) const;
    /// Of each CTA's queries and keys, those that a round turns: heads' elements in the order of their pairs.
    void add_pairs(CtaRange range, std::int64_t round, TileAccess& access) const;
    /// Sines and cosines of each CTA's position.
    void add_angles(CtaRange range, TileAccess& access) const;
    /// What columns have, for SMs that have no CTA before.
    void add_columns(CtaRange range, TileAccess& access) const;

    const VectorPlan& plan_;
    const VectorKernel& kernel_;
};

}  // namespace systole::simt
