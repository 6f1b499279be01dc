// SPDX-License-Identifier: Apache-2.0
// What the engines in closed form have in common: time that jumps, tiles that wait to be taken, and reports
// that are told when their time has come.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>

#include "models/devices/systolic/mxu/matrix_engine.h"
#include "models/devices/systolic/mxu/running_reports.h"
#include "sim/base/check.h"

namespace systole {

class ClosedFormEngine : public MatrixEngine {
public:
    Cycles now() const final { return now_; }
    void advance(Cycles to) final {
        SYSTOLE_CHECK(to >= now_, "time went back from cycle {} to {}", now_.value(), to.value());
        now_ = to;
    }
    void tile_arrives(Cycles at, const Tile& tile) override {
        check_tile(spec_, tile);
        SYSTOLE_CHECK(at >= now_ && (tiles_.empty() || at >= tiles_.back().at),
                      "a tile for cycle {} came at {}", at.value(), now_.value());
        tiles_.push_back({at, tile});
    }
    std::optional<PassReport> take_finished() final { return running_.take_finished(now_); }
    Cycles dry() const override {
        return kept_ || !tiles_.empty() ? kNever : std::max(now_, std::max(settled_, stream_end_));
    }

protected:
    struct Arrival {
        Cycles at;
        Tile tile;
    };

    explicit ClosedFormEngine(const ArraySpec& spec) : spec_(spec) { check_array(spec); }

    const ArraySpec spec_;
    Cycles now_;
    std::deque<Arrival> tiles_;  // not taken yet
    bool kept_ = false;          // the next pass keeps the tile in use
    Cycles stream_end_;          // of the last pass
    Cycles settled_;             // every sum can be read, and nothing is left in the array
    RunningReports running_;
};

}  // namespace systole
