// SPDX-License-Identifier: Apache-2.0
// The output-stationary matrix unit register by register: operand ports on two edges, PE array, the way out
// of results, and accumulators, clocked cycle by cycle, with values. Every time and slot count it reports was
// observed in a register, none was computed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "models/devices/systolic/mxu/grid_core.h"
#include "models/devices/systolic/mxu/os_array.h"
#include "models/devices/systolic/mxu/skew_line.h"
#include "models/devices/systolic/mxu/value_type.h"

namespace systole {

/// `Arithmetic`: Int8Arithmetic or Float32Arithmetic (also for bf16 and fp16, see value_type.h).
template <class Arithmetic>
class OsGrid final : public GridCore<Arithmetic, OsArray<Arithmetic>> {
    using Core = GridCore<Arithmetic, OsArray<Arithmetic>>;

public:
    using Core::start, Core::tile_arrives;
    using typename Core::Operand, typename Core::Sum;

    OsGrid(const ArraySpec& spec, std::shared_ptr<Accumulators<Arithmetic>> below);

    void advance(Cycles to) override;
    void tile_arrives(Cycles at, const Tile& tile, Matrix<Operand> values) override;
    std::int64_t tiles_shifted() const override { return tiles_begun_; }
    Cycles earliest_start(const Pass& pass) const override;
    void start(const Pass& pass, Matrix<Operand> left, Matrix<Operand> top) override;
    Cycles next_event() const override { return still() ? kNever : now_ + Cycles(1); }
    Cycles dry() const override;
    bool shifting(int col) const override { return shifts_.tap(col).pass != nullptr; }

private:
    // Taps of the stream: 0 … R - 1, left edge; 0 … C - 1, top edge; R - 1 … R + C - 2, bottom edge.
    using Core::spec_, Core::now_, Core::stream_, Core::array_, Core::accumulators_, Core::kept_;
    using typename Core::Stream;
    using RunningPass = typename Stream::RunningPass;
    using Token = typename Stream::Token;

    struct AnnouncedTile {
        Cycles at;
        Tile shape;
    };
    /// One step of the shift of a tile's results, on its way along the bottom edge; no pass: none.
    struct ShiftToken {
        RunningPass* pass = nullptr;  // the tile's last
        std::int32_t step = kNoStep;
    };

    void cycle();
    void feed_left();
    void feed_top();
    void feed_shift();
    void note_feed(const Token& fed);
    void note_shift();
    void note_passed();
    void collect_results();
    void note_done(RunningPass& running);
    bool still() const;
    bool tile_ready(const Pass& pass) const;
    bool way_out_ready(const Pass& pass, const Tile& tile) const;
    Cycles leaves(Cycles last_fed, int row) const;

    SkewLine<ShiftToken> shifts_;          // taps 0 … C - 1: bottom edge
    RunningPass* released_ = nullptr;      // column 0 holds all results of this pass's tile, unshifted
    std::vector<Cycles> leaves_column_0_;  // scoreboard: per accumulator row, its last result's way out
    Cycles last_released_;                 // when the last vector of a tile was fed
    std::deque<AnnouncedTile> tiles_;      // whose first pass has not started
    std::int64_t tiles_begun_ = 0;
    Tile in_use_;  // by the last pass
};

extern template class OsGrid<Int8Arithmetic>;
extern template class OsGrid<Float32Arithmetic>;

}  // namespace systole
