// SPDX-License-Identifier: Apache-2.0
// The output-stationary matrix unit in closed form, one pass at a time: no registers, no values, no loop over
// cycles. Exact, as TileEngine is.
#pragma once

#include <deque>
#include <optional>

#include "models/devices/systolic/mxu/matrix_engine.h"
#include "models/devices/systolic/mxu/running_reports.h"

namespace systole {

class OsTileEngine final : public MatrixEngine {
public:
    explicit OsTileEngine(const ArraySpec& spec);

    Cycles now() const override { return now_; }
    void advance(Cycles to) override;
    void tile_arrives(Cycles at, const Tile& tile) override;
    std::int64_t tiles_shifted() const override { return tiles_begun_; }
    Cycles earliest_start(const Pass& pass) const override;
    void start(const Pass& pass) override;
    Cycles next_event() const override { return running_.next_finish(now_); }
    std::optional<PassReport> take_finished() override { return running_.take_finished(now_); }

private:
    struct Announced {
        Cycles at;
        Tile tile;
    };
    /// A tile whose rows may still be too young to add onto.
    struct Writer {
        Cycles last_fed;
        std::int64_t row;
        int rows;
    };

    Cycles accumulator_free(std::int64_t row, const Tile& tile) const;
    PassTimes times_of(const Pass& pass) const;

    const ArraySpec spec_;
    Cycles now_;
    std::deque<Announced> tiles_;  // whose first pass has not started
    Tile in_use_;                  // of the last pass
    bool kept_ = false;            // the next pass keeps it
    Cycles stream_end_;
    Cycles done_;      // of the last use of the tile before
    Cycles way_free_;  // the first cycle in which the last vector of a tile may be fed
    std::int64_t tiles_begun_ = 0;
    std::deque<Writer> writers_;
    RunningReports running_;
};

}  // namespace systole
