// SPDX-License-Identifier: Apache-2.0
// The matrix unit register by register: weight loader, operand port, PE array and accumulators, clocked cycle
// by cycle, with values. Every time and slot count it reports was observed in a register, none was computed.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/devices/systolic/mxu/accumulators.h"
#include "models/devices/systolic/mxu/matrix.h"
#include "models/devices/systolic/mxu/matrix_engine.h"
#include "models/devices/systolic/mxu/pe_array.h"
#include "models/devices/systolic/mxu/skew_line.h"
#include "models/devices/systolic/mxu/stream_port.h"
#include "models/devices/systolic/mxu/value_type.h"
#include "models/devices/systolic/mxu/weight_loader.h"

namespace systole {

/// `Arithmetic`: Int8Arithmetic or Float32Arithmetic (also for bf16, see value_type.h).
template <class Arithmetic>
class PeGrid final : public MatrixEngine {
public:
    using Operand = typename Arithmetic::Operand;
    using Sum = typename Arithmetic::Sum;

    explicit PeGrid(const ArraySpec& spec);

    Cycles now() const override { return now_; }
    void advance(Cycles to) override;
    void tile_arrives(Cycles at, const Tile& tile) override { tile_arrives(at, tile, {}); }
    std::int64_t tiles_shifted() const override { return tiles_shifted_; }
    Cycles earliest_start(const Pass& pass) const override;
    void start(const Pass& pass) override { start(pass, {}); }
    Cycles next_event() const override;
    std::optional<PassReport> take_finished() override;

    /// As above, with values: `weights` is tile.rows x tile.cols.
    void tile_arrives(Cycles at, const Tile& tile, Matrix<Operand> weights);
    /// As above, with values: `activations` is pass.vectors x rows of the tile.
    void start(const Pass& pass, Matrix<Operand> activations);
    /// The sum readable now; those of a finished pass are from done + accumulator_latency - 1 on.
    Sum accumulator(std::int64_t row, int col) const { return accumulators_.at(row, col); }
    /// What a PE holds after the last cycle.
    PeState<Operand, Sum> pe(int row, int col) const { return array_.pe(row, col); }

private:
    /// A tile with the times at which PE(0,0) took the first and the last of its weights.
    struct ShiftedTile {
        Tile shape;
        Cycles start, end;
    };
    struct LoadedTile {
        ShiftedTile shifted;
        Matrix<Operand> weights;
    };
    struct RunningPass {
        Pass pass;
        Tile tile;
        Matrix<Operand> activations;
        PassReport report;
        bool streamed = false;
        bool done = false;
    };
    /// One vector on its way along the edges; no pass: a bubble.
    struct VectorToken {
        RunningPass* pass = nullptr;
        std::int64_t vector = 0;
    };
    /// One row of weights on its way along the top edge; no tile: a bubble.
    struct WeightToken {
        LoadedTile* tile = nullptr;
        std::int32_t step = WeightLoader::kNone;
    };

    void cycle();
    void feed_vectors();
    void feed_weights();
    void collect_sums();
    void note_shift();
    void note_done(RunningPass& running);
    bool still() const;
    bool accumulators_ready(const Pass& pass) const;

    const ArraySpec spec_;
    Cycles now_;
    WeightLoader loader_;
    StreamPort port_;
    PeArray<Arithmetic> array_;
    Accumulators<Arithmetic> accumulators_;
    SkewLine<VectorToken> vectors_;  // taps 0 … R - 1: left edge; R - 1 … R + C - 2: bottom edge
    SkewLine<WeightToken> weights_;  // taps 0 … C - 1: top edge
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
