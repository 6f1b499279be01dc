// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/os_tile_engine.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {

namespace {

/// From a pass's start until its last vector is fed.
Cycles until_last(const Pass& pass) {
    return Cycles(pass.cycles_per_vector.floor_times(pass.vectors - 1));
}

}  // namespace

Cycles OsTileEngine::earliest_start(const Pass& pass) const {
    check_pass(spec_, pass);
    check_order(pass, kept_);
    if (pass.new_tile && tiles_.empty()) return kNever;
    Cycles earliest = std::max(now_, stream_end_);
    if (pass.new_tile) {
        earliest = std::max(earliest, tiles_.front().at);
        if (!spec_.shadow_register) earliest = std::max(earliest, done_);
    }
    if (!pass.last_use) return earliest;
    Cycles last_fed = way_free_;
    if (pass.accumulate) {
        const Tile& tile = pass.new_tile ? tiles_.front().tile : in_use_;
        last_fed = std::max(last_fed, accumulator_free(pass.accumulator_row, tile));
    }
    return std::max(earliest, last_fed - until_last(pass));
}

/// The first cycle in which the last vector of a tile may be fed whose outputs go to accumulator rows `row`
/// and on. All tiles leave in the same order of rows, so tile row i meets row i + shift of an earlier tile
/// `shift` cycles later than itself over a bus, and as much earlier through the PEs below.
Cycles OsTileEngine::accumulator_free(std::int64_t row, const Tile& tile) const {
    Cycles free;
    for (const Writer& writer : writers_) {
        if (std::max(writer.row, row) >= std::min(writer.row + writer.rows, row + tile.rows)) continue;
        const Cycles shift(row - writer.row);
        const Cycles meets = spec_.result_shift ? writer.last_fed - shift : writer.last_fed + shift;
        free = std::max(free, meets + spec_.accumulator_latency);
    }
    return free;
}

void OsTileEngine::start(const Pass& pass) {
    SYSTOLE_CHECK(earliest_start(pass) == now_, "a pass was started in cycle {}, before it can",
                  now_.value());
    if (pass.new_tile) {
        in_use_ = tiles_.front().tile;
        tiles_.pop_front();
        ++tiles_begun_;
    }
    check_outputs(spec_, in_use_, pass);
    kept_ = !pass.last_use;
    const PassTimes times = times_of(pass);
    stream_end_ = times.stream_end;
    running_.start(spec_, in_use_, pass, times);
    if (!pass.last_use) return;

    done_ = times.done;
    const Cycles last_fed = now_ + until_last(pass);
    // The last row to leave is row 0 through the PEs below, and the tile's last over a bus.
    const Cycles unused(spec_.result_shift ? 0 : spec_.rows - in_use_.rows);
    settled_ = std::max(done_, done_ - unused + spec_.accumulator_latency - Cycles(1));
    way_free_ = last_fed + Cycles(spec_.rows);
    // Rows leave within R cycles of each other: a tile is forgotten when no row of a next one can be too
    // early.
    const auto settled = [this](const Writer& w) {
        return w.last_fed + Cycles(spec_.rows - 1) + spec_.accumulator_latency;
    };
    while (!writers_.empty() && settled(writers_.front()) <= way_free_) writers_.pop_front();
    writers_.push_back({last_fed, pass.accumulator_row, in_use_.rows});
}

PassTimes OsTileEngine::times_of(const Pass& pass) const {
    const Cycles last_fed = now_ + until_last(pass);
    const bool shifted = spec_.result_shift && pass.last_use;
    const Cycles multiplied = last_fed + Cycles(spec_.rows + spec_.cols - 1);
    const Cycles done = shifted ? multiplied + Cycles(spec_.rows) : multiplied;
    return {.shift_start = shifted ? last_fed + Cycles(spec_.rows) : done,
            .shift_end = shifted ? last_fed + Cycles(2 * spec_.rows) : done,
            .start = now_,
            .stream_end = now_ + Cycles(pass.cycles_per_vector.ceil_times(pass.vectors)),
            .done = done};
}

}  // namespace systole
