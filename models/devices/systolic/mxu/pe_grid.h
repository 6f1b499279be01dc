// SPDX-License-Identifier: Apache-2.0
// The matrix unit whose tile of weights (ws) or inputs (is) stays, register by register: tile loader, operand
// port, PE array and accumulators, clocked cycle by cycle, with values. Every time and slot count it reports
// was observed in a register, none was computed.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/devices/systolic/mxu/accumulators.h"
#include "models/devices/systolic/mxu/grid_engine.h"
#include "models/devices/systolic/mxu/pe_array.h"
#include "models/devices/systolic/mxu/skew_line.h"
#include "models/devices/systolic/mxu/stream_port.h"
#include "models/devices/systolic/mxu/tile_loader.h"
#include "models/devices/systolic/mxu/value_type.h"

namespace systole {

/// `Arithmetic`: Int8Arithmetic or Float32Arithmetic (also for bf16, see value_type.h).
template <class Arithmetic>
class PeGrid final : public BasicGridEngine<typename Arithmetic::Operand, typename Arithmetic::Sum> {
public:
    using Operand = typename Arithmetic::Operand;
    using Sum = typename Arithmetic::Sum;
    using Base = BasicGridEngine<Operand, Sum>;
    using Base::start;
    using Base::tile_arrives;

    explicit PeGrid(const ArraySpec& spec);

    Cycles now() const override { return now_; }
    void advance(Cycles to) override;
    void tile_arrives(Cycles at, const Tile& tile, Matrix<Operand> values) override;
    std::int64_t tiles_shifted() const override { return tiles_shifted_; }
    Cycles earliest_start(const Pass& pass) const override;
    void start(const Pass& pass, Matrix<Operand> left, Matrix<Operand> top) override;
    Cycles next_event() const override;
    std::optional<PassReport> take_finished() override;

    Sum accumulator(std::int64_t row, int col) const override { return accumulators_.at(row, col); }
    PeState<Operand, Sum> pe(int row, int col) const override { return array_.pe(row, col); }

private:
    /// A tile with the times at which PE(0,0) took the first and the last of its values.
    struct ShiftedTile {
        Tile shape;
        Cycles start, end;
    };
    struct LoadedTile {
        ShiftedTile shifted;
        Matrix<Operand> values;
    };
    struct RunningPass {
        Pass pass;
        Tile tile;
        Matrix<Operand> left;
        PassReport report;
        bool streamed = false;
        bool done = false;
    };
    /// One vector on its way along the edges; no pass: a bubble.
    struct VectorToken {
        RunningPass* pass = nullptr;
        std::int64_t vector = 0;
    };
    /// One row of a tile on its way along the top edge; no tile: a bubble.
    struct RowToken {
        LoadedTile* tile = nullptr;
        std::int32_t step = TileLoader::kNone;
    };

    void cycle();
    void feed_vectors();
    void feed_tile();
    void collect_sums();
    void note_shift();
    void note_done(RunningPass& running);
    bool still() const;
    bool accumulators_ready(const Pass& pass) const;

    const ArraySpec spec_;
    Cycles now_;
    TileLoader loader_;
    StreamPort port_;
    PeArray<Arithmetic> array_;
    Accumulators<Arithmetic> accumulators_;
    SkewLine<VectorToken> vectors_;  // taps 0 … R - 1: left edge; R - 1 … R + C - 2: bottom edge
    SkewLine<RowToken> tile_rows_;   // taps 0 … C - 1: top edge
    std::vector<Cycles> last_fed_;  // scoreboard: per accumulator row, when a vector for it entered the array
    std::deque<LoadedTile> fifo_;   // the tiles the loader has not begun
    std::deque<LoadedTile> tiles_;  // the tile begun last, and before it those still being read
    std::deque<RunningPass> passes_;  // from start until taken; references stay valid
    std::int64_t tiles_shifted_ = 0;
    std::int64_t tiles_moving_ = 0;  // shifts begun whose last column has not ended
    std::int64_t in_array_ = 0;      // passes started and not done
    ShiftedTile in_use_;             // by the last pass
    bool kept_ = false;              // the next pass keeps the tile in use
};

extern template class PeGrid<Int8Arithmetic>;
extern template class PeGrid<Float32Arithmetic>;

}  // namespace systole
