// SPDX-License-Identifier: Apache-2.0
// The shares of a streaming kernel's CTAs: equal but for a byte, one behind the other.
#pragma once

#include "models/devices/simt/machine/cta_work.h"

namespace systole::simt {

class StreamBlocks final : public CtaWork {
public:
    explicit StreamBlocks(const StreamPlan& plan) : plan_(plan) {}

    std::int64_t ctas() const override { return plan_.ctas; }
    std::int64_t steps(std::int64_t) const override { return 1; }
    TileAccess reads(CtaRange range, std::int64_t step) const override;
    TileAccess writes(CtaRange range) const override;
    std::int64_t macs(CtaRange) const override { return 0; }

private:
    void add_shares(const MatrixPlace& matrix, CtaRange range, TileAccess& access) const;
    void add_columns(const ColumnValues& columns, CtaRange range, TileAccess& access) const;
    /// Of what columns have, what elements `begin` … `end` - 1 meet; its bytes.
    std::int64_t add_values(const ColumnValues& columns, std::int64_t begin, std::int64_t end,
                            TileAccess& access) const;

    const StreamPlan& plan_;
};

}  // namespace systole::simt
