// SPDX-License-Identifier: Apache-2.0
// Which blocks of queries, keys and values the CTAs of an attention kernel take, and what they write:
// distinct ones, with how many SMs take each; tiles of a head, and heads that share keys, take the same.
#pragma once

#include "models/devices/simt/machine/cta_work.h"

namespace systole::simt {

class AttentionBlocks final : public CtaWork {
public:
    explicit AttentionBlocks(const AttentionPlan& plan) : plan_(plan), kernel_(plan.kernel) {}

    std::int64_t ctas() const override { return kernel_.ctas(); }
    std::int64_t steps(std::int64_t cta) const override {
        return steps_of(kernel_, place_of(kernel_, cta)) * (kernel_.in_two_passes() ? 2 : 1);
    }
    /// A step brings a block of keys and one of values, or one of both; the first one queries, too.
    TileAccess reads(CtaRange range, std::int64_t step) const override;
    TileAccess writes(CtaRange range) const override;
    std::int64_t macs(CtaRange range) const override;
    /// Of one CTA: its queries; keys of a step, or values.
    TileAccess queries_of(std::int64_t cta) const;
    TileAccess of_step(std::int64_t cta, std::int64_t step, bool values) const;
    /// In two passes: of one of its steps.
    TileAccess of_pass(std::int64_t cta, std::int64_t step) const;

private:
    /// First byte of row `row` of `rows` in a matrix of rows.
    static std::int64_t at(const MatrixPlace& matrix, std::int64_t row, std::int64_t rows);
    static TileAccess::Block block(const MatrixPlace& matrix, std::int64_t begin, std::int64_t end,
                                   std::int64_t rows);
    /// Tensor copies bring whole boxes: rows of a tile that are others' queries, and keys of a page that
    /// nobody has written yet, come along.
    void take_whole(TileAccess::Block& own, std::int64_t rows, std::int64_t of_box) const;
    /// Of all heads, the one whose keys and values an item reads.
    std::int64_t head_of_keys(std::int64_t item) const;
    TileAccess::Block queries(const AttentionPlace& place) const;
    TileAccess::Block keys(const MatrixPlace& matrix, const AttentionPlace& place, std::int64_t step) const;
    /// In two passes: of a step of keys, or of one of values.
    TileAccess::Block of_pass(const AttentionPlace& place, std::int64_t step) const;

    const AttentionPlan& plan_;
    const AttentionKernel& kernel_;
};

}  // namespace systole::simt
