// SPDX-License-Identifier: Apache-2.0
// The matrix unit whose tile of weights (ws) or inputs (is) stays, register by register: tile loader, operand
// port, PE array and accumulators, clocked cycle by cycle, with values. Every time and slot count it reports
// was observed in a register, none was computed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "models/devices/systolic/mxu/grid_core.h"
#include "models/devices/systolic/mxu/pe_array.h"
#include "models/devices/systolic/mxu/skew_line.h"
#include "models/devices/systolic/mxu/tile_loader.h"
#include "models/devices/systolic/mxu/value_type.h"

namespace systole {

/// `Arithmetic`: Int8Arithmetic or Float32Arithmetic (also for bf16 and fp16, see value_type.h).
template <class Arithmetic>
class PeGrid final : public GridCore<Arithmetic, PeArray<Arithmetic>> {
    using Core = GridCore<Arithmetic, PeArray<Arithmetic>>;

public:
    using Core::start, Core::tile_arrives;
    using typename Core::Operand, typename Core::Sum;

    PeGrid(const ArraySpec& spec, std::shared_ptr<Accumulators<Arithmetic>> below);

    void advance(Cycles to) override;
    void tile_arrives(Cycles at, const Tile& tile, Matrix<Operand> values) override;
    std::int64_t tiles_shifted() const override { return tiles_shifted_; }
    Cycles earliest_start(const Pass& pass) const override;
    void start(const Pass& pass, Matrix<Operand> left, Matrix<Operand> top) override;
    Cycles next_event() const override;
    Cycles dry() const override;
    bool shifting(int col) const override { return tile_rows_.tap(col).tile != nullptr; }

private:
    // Taps of the stream: 0 … R - 1, left edge; R - 1 … R + C - 2, bottom edge.
    using Core::spec_, Core::now_, Core::stream_, Core::array_, Core::accumulators_, Core::kept_;
    using typename Core::Stream;
    using Token = typename Stream::Token;

    /// A tile with the times at which PE(0,0) took the first and the last of its values.
    struct ShiftedTile {
        Tile shape;
        Cycles start, end;
    };
    struct LoadedTile {
        ShiftedTile shifted;
        Matrix<Operand> values;
    };
    /// One row of a tile on its way along the top edge; no tile: a bubble.
    struct RowToken {
        LoadedTile* tile = nullptr;
        std::int32_t step = kNoStep;
    };

    void cycle();
    void feed_vectors();
    void feed_tile();
    void collect_sums();
    void note_shift();
    bool still() const;
    bool accumulators_ready(const Pass& pass) const;

    TileLoader loader_;
    SkewLine<RowToken> tile_rows_;  // taps 0 … C - 1: top edge
    std::vector<Cycles> last_fed_;  // scoreboard: per accumulator row, when a vector for it entered the array
    std::deque<LoadedTile> fifo_;   // the tiles the loader has not begun
    std::deque<LoadedTile> tiles_;  // the tile begun last, and before it those still being read
    std::int64_t tiles_shifted_ = 0;
    std::int64_t tiles_moving_ = 0;  // shifts begun whose last column has not ended
    ShiftedTile in_use_;             // by the last pass
};

extern template class PeGrid<Int8Arithmetic>;
extern template class PeGrid<Float32Arithmetic>;

}  // namespace systole
