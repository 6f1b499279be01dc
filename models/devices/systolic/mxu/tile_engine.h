// SPDX-License-Identifier: Apache-2.0
// The matrix unit whose tile of weights (ws) or inputs (is) stays, in closed form, one pass at a time: no
// registers, no values, no loop over cycles. The default engine of every run; its answers are exact, not
// estimates (the PE grid agrees to the cycle).
#pragma once

#include <deque>
#include <optional>

#include "models/devices/systolic/mxu/closed_form.h"

namespace systole {

class TileEngine final : public ClosedFormEngine {
public:
    explicit TileEngine(const ArraySpec& spec) : ClosedFormEngine(spec) {}

    void tile_arrives(Cycles at, const Tile& tile) override;
    std::int64_t tiles_shifted() const override;
    Cycles earliest_start(const Pass& pass) const override;
    void start(const Pass& pass) override;
    Cycles next_event() const override;
    Cycles dry() const override { return entering_ ? kNever : ClosedFormEngine::dry(); }

private:
    /// A tile with the times of its shift.
    struct Shift {
        Cycles start, end;
        Tile tile;
    };
    /// A pass whose rows may still be too young to add onto.
    struct Writer {
        Cycles start, settled;  // settled: its youngest row may be added onto
        std::int64_t row, vectors;
        Rational rate;
    };

    void plan_shift();
    Cycles accumulator_free(const Pass& pass) const;
    PassTimes times_of(const Pass& pass) const;

    std::optional<Shift> entering_;  // the tile that is or will be shifted in, not yet in use
    Shift in_use_;                   // the tile of the last pass
    Cycles register_free_;           // the first cycle of the next shift; kNever: not known yet
    std::int64_t tiles_used_ = 0;
    std::deque<Writer> writers_;
};

}  // namespace systole
