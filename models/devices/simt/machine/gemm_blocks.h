// SPDX-License-Identifier: Apache-2.0
// Which blocks of A, B and C the CTAs of a GEMM take: distinct ones, with how many SMs take each; neighbours
// that as many take are one. With clusters a block that CTAs of one cluster share passes from the L2 once for
// all of them.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/devices/simt/kernels/stream_k.h"
#include "models/devices/simt/machine/cta_work.h"

namespace systole::simt {

/// Elements [begin, begin + count) of a matrix, of `each` so many bits, in whole bytes: neighbours never
/// share one, nor leave one out.
TileAccess::Block elements_of(const MatrixPlace& matrix, std::int64_t begin, std::int64_t count,
                              BitsPerWeight each);

class GemmBlocks final : public CtaWork {
public:
    explicit GemmBlocks(const GemmPlan& plan);

    /// Of stream-K, whole tiles and pieces of tiles.
    std::int64_t ctas() const override;
    std::int64_t cluster() const override { return plan_.kernel.tile.cluster(); }
    std::int64_t steps(std::int64_t cta) const override;
    bool alone(std::int64_t cta) const override;
    std::vector<std::int64_t> waits_for(std::int64_t cta) const override;
    TileAccess reads(CtaRange range, std::int64_t step) const override;
    TileAccess writes(CtaRange range) const override;
    TileAccess reads_of_one(std::int64_t cta, std::int64_t step) const override;
    std::int64_t macs(CtaRange range) const override;

private:
    /// Columns of A that a part of K takes in one of its steps; `step`: of all of K.
    struct Depth {
        std::int64_t begin = 0, size = 0, step = 0;
    };
    /// Where a CTA works, and with which piece of a shared tile.
    struct Work : CtaPlace {
        const StreamPiece* piece = nullptr;
        /// Tells it from others that take the same rows or columns.
        std::int64_t share = 0;
    };
    Work work(std::int64_t cta) const;
    Depth depth(const Work& work, std::int64_t step) const;
    std::int64_t first_step(const Work& work) const;
    std::int64_t whole_tiles() const { return plan_.kernel.tiles() - plan_.kernel.shared_tiles; }
    /// A block row or column that CTAs of a range take, of one of them, and the clusters that take it.
    struct Taken {
        Work place;
        std::int64_t clusters;
    };
    struct Sides {
        std::vector<Taken> a, b;
        std::vector<Work> sizes;  ///< of CTAs that differ in what they take
    };
    const Sides& sides_of(CtaRange range) const;
    TileAccess::Block a_block(const CtaPlace& place, Depth depth) const;
    TileAccess::Block gathered_block(const CtaPlace& place, Depth depth) const;
    /// Bytes between what neighbouring tiles gather in a step: the end of a row of the map, or rows that
    /// other taps take.
    std::int64_t between_pixels() const;
    TileAccess::Block b_block(const CtaPlace& place, Depth depth) const;
    /// Bytes of such blocks that pass the port of an SM whose CTA takes them.
    std::int64_t into_sm(const TileAccess::Block& a, const TileAccess::Block& b) const;
    TileAccess::Block c_block(const Work& place) const;
    TileAccess::Block workspace_block(const Work& work) const;
    TileAccess::Block column_block(const ColumnValues& values, const CtaPlace& place) const;
    TileAccess::Block result_block(const MatrixPlace& matrix, const CtaPlace& place, std::int64_t item,
                                   DType dtype) const;
    /// Of pieces of shared tiles, whoever adds reads their sums.
    bool reads_behind_steps() const { return plan_.kernel.epilogue().reads() || !pieces_.empty(); }
    TileAccess reads_of_epilogue(CtaRange range, const Epilogue& epilogue) const;
    std::int64_t rows(std::int64_t m) const;
    std::int64_t columns(std::int64_t n) const;

    const GemmPlan& plan_;
    const std::vector<StreamPiece> pieces_;
    /// Of ranges that were asked for: the same at every step.
    mutable std::map<std::pair<std::int64_t, std::int64_t>, Sides> sides_;
};

}  // namespace systole::simt
