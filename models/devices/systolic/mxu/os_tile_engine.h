// SPDX-License-Identifier: Apache-2.0
// The output-stationary matrix unit in closed form, one pass at a time: no registers, no values, no loop over
// cycles. Exact, as TileEngine is.
#pragma once

#include <deque>

#include "models/devices/systolic/mxu/closed_form.h"

namespace systole {

class OsTileEngine final : public ClosedFormEngine {
public:
    explicit OsTileEngine(const ArraySpec& spec) : ClosedFormEngine(spec) {}

    std::int64_t tiles_shifted() const override { return tiles_begun_; }
    Cycles earliest_start(const Pass& pass) const override;
    void start(const Pass& pass) override;
    Cycles next_event() const override { return running_.next_finish(now_); }

private:
    /// A tile whose rows may still be too young to add onto.
    struct Writer {
        Cycles last_fed;
        std::int64_t row;
        int rows;
    };

    Cycles accumulator_free(std::int64_t row, const Tile& tile) const;
    PassTimes times_of(const Pass& pass) const;

    Tile in_use_;      // of the last pass
    Cycles done_;      // of the last use of the tile before
    Cycles way_free_;  // the first cycle in which the last vector of a tile may be fed
    std::int64_t tiles_begun_ = 0;
    std::deque<Writer> writers_;
};

}  // namespace systole
