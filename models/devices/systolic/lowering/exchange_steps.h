// SPDX-License-Identifier: Apache-2.0
// All-to-all on a ring of chips that all run this program, in step: each part goes the shorter way round to
// the chip it is for. On its way it passes through the chips between, from link to link; as all chips do
// alike, this one passes on as much of others' parts as others do of its own.
#pragma once

#include <cstdint>

#include "models/devices/systolic/lowering/ring_steps.h"

namespace systole::systolic {

class ExchangeSteps : public Steps {
public:
    /// Pieces of at most `most_bytes`.
    ExchangeSteps(Workspace& workspace, std::int64_t layer, std::int64_t most_bytes);

    std::int64_t count() const override { return (chips_ - 1) * cut_.count(); }
    bool stage_weights(std::int64_t, Holds&) override { return true; }
    bool stage_inputs(std::int64_t, Holds&) override { return true; }
    void work(std::int64_t step) override;

    /// Of a part.
    std::int64_t piece_count() const { return cut_.count(); }

private:
    Workspace& workspace_;
    const Layer& source_;
    std::int64_t chips_;
    RingParts parts_;
    BoxCut cut_;
};

}  // namespace systole::systolic
