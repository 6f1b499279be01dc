// SPDX-License-Identifier: Apache-2.0
// What CTAs of a transpose read and write. Tiles lie one behind the other, as blocks of products do
// (MatrixPlace): as it is read, those of the same rows, as it is written, those of the same columns. Of rows
// that are cut into tiles a real kernel reads a few lines each, which reach less of the memory's bandwidth
// (TileAccess::short_rows).
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
    const VectorPlan& plan_;
    const Turn& turn_;
};

}  // namespace systole::simt
