// SPDX-License-Identifier: Apache-2.0
// What CTAs of a transpose read and write: of each tile, its part of rows as they are read, and of columns as
// they are written. Parts of neighbours that lie one behind the other are one block.
#pragma once

#include "models/devices/simt/machine/cta_work.h"

namespace systole::simt {

class TransposeBlocks final : public CtaWork {
public:
    explicit TransposeBlocks(const VectorPlan& plan) : plan_(plan), turn_(plan.kernel.turn) {}

    std::int64_t ctas() const override { return turn_.ctas(); }
    std::int64_t steps(std::int64_t) const override { return 1; }
    TileAccess reads(CtaRange range, std::int64_t step) const override;
    TileAccess writes(CtaRange range) const override;
    std::int64_t macs(CtaRange) const override { return 0; }

private:
    /// Of a tile, or of several beside each other.
    void add_rows(const TurnTile& tile, TileAccess& access) const;
    void add_columns(const TurnTile& tile, TileAccess& access) const;

    const VectorPlan& plan_;
    const Turn& turn_;
};

}  // namespace systole::simt
