// SPDX-License-Identifier: Apache-2.0
// What CTAs of a kernel of windows read and write: results one behind the other (channel by channel, pixel by
// pixel), and for each row of their windows the pixels under it.
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
    std::int64_t behind(std::int64_t cta) const;
    PixelRange round(std::int64_t cta, std::int64_t first, std::int64_t count, std::int64_t number) const;
    TileAccess::Block pixels(std::int64_t cta, std::int64_t row) const;
    /// Of CTAs that share windows, sums of parts [first, first + count) of the results of CTA `cta`.
    TileAccess::Block sums(std::int64_t cta, std::int64_t first, std::int64_t count) const;
    /// What those that add them up read.
    TileAccess reads_of_sums(CtaRange range) const;
    /// Weights of a row of the window and, with the first, biases: of SMs that had no CTA before. Others have
    /// them in the L1.
    void add_weights(CtaRange range, std::int64_t row, TileAccess& access) const;

    const VectorPlan& plan_;
    const VectorKernel& kernel_;
    const ConvGather& windows_;
};

}  // namespace systole::simt
