// SPDX-License-Identifier: Apache-2.0
// What CTAs of a kernel of windows read and write: results one behind the other (channel by channel, pixel by pixel),
// and for each row of their windows the pixels under it.
#pragma once

#include "models/devices/simt/machine/cta_work.h"

namespace systole::simt {

class WindowBlocks final : public CtaWork {
public:
    explicit WindowBlocks(const VectorPlan& plan)
        : plan_(plan), kernel_(plan.kernel), windows_(*plan.kernel.windows) {}

    std::int64_t ctas() const override { return kernel_.ctas(); }
    std::int64_t steps(std::int64_t) const override { return kernel_.steps(); }
    TileAccess reads(CtaRange range, std::int64_t step) const override;
    TileAccess writes(CtaRange range) const override;
    std::int64_t macs(CtaRange range) const override;

private:
    /// Results of CTAs before `cta`.
    std::int64_t before(std::int64_t cta) const;
    TileAccess::Block pixels(std::int64_t cta, std::int64_t row) const;
    /// Weights of a row of the window and, with the first, biases: of SMs that had no CTA before. Others have
    /// them in the L1.
    void add_weights(CtaRange range, std::int64_t row, TileAccess& access) const;

    const VectorPlan& plan_;
    const VectorKernel& kernel_;
    const ConvGather& windows_;
};

}  // namespace systole::simt
