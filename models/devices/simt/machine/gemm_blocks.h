// SPDX-License-Identifier: Apache-2.0
// Which blocks of A, B and C the CTAs of a GEMM take: distinct ones, with how many SMs take each. With
// clusters a block that CTAs of one cluster share passes from the L2 once for all of them.
#pragma once

#include "models/devices/simt/machine/cta_work.h"

namespace systole::simt {

class GemmBlocks final : public CtaWork {
public:
    explicit GemmBlocks(const GemmPlan& plan) : plan_(plan) {}

    std::int64_t ctas() const override { return plan_.kernel.ctas(); }
    std::int64_t steps(std::int64_t cta) const override;
    TileAccess reads(CtaRange range, std::int64_t step) const override;
    TileAccess writes(CtaRange range) const override;
    std::int64_t macs(CtaRange range) const override;

private:
    /// Columns of A that a part of K takes in one of its steps.
    struct Depth {
        std::int64_t begin = 0, size = 0;
    };
    Depth depth(std::int64_t part, std::int64_t step) const;
    std::int64_t depth_of_part(std::int64_t part) const;
    TileAccess::Block a_block(const CtaPlace& place, Depth depth) const;
    TileAccess::Block b_block(const CtaPlace& place, Depth depth) const;
    TileAccess::Block c_block(const CtaPlace& place) const;
    std::int64_t rows(std::int64_t m) const;
    std::int64_t columns(std::int64_t n) const;

    const GemmPlan& plan_;
};

}  // namespace systole::simt
