// SPDX-License-Identifier: Apache-2.0
// The register-accurate engines as the machine sees them, whatever their dataflow: with values, and with
// every register open to waveforms and checks. Machines run the one for int8 operands and int32 sums.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "models/devices/systolic/mxu/matrix.h"
#include "models/devices/systolic/mxu/matrix_engine.h"
#include "models/devices/systolic/mxu/pe_state.h"

namespace systole {

template <class Operand, class Sum>
class BasicGridEngine : public MatrixEngine {
public:
    using Values = Matrix<Operand>;

    void tile_arrives(Cycles at, const Tile& tile) override { tile_arrives(at, tile, {}); }
    void start(const Pass& pass) override { start(pass, {}, {}); }
    /// As MatrixEngine's, with values: what is shifted in, tile.rows x tile.cols. os: none.
    virtual void tile_arrives(Cycles at, const Tile& tile, Values values) = 0;
    /// As MatrixEngine's, with values: `left` is vectors x rows of the tile. os: `top` is vectors x columns
    /// of the tile; otherwise none.
    virtual void start(const Pass& pass, Values left, Values top) = 0;

    /// The sum readable now; those of a finished pass are from done + accumulator_latency - 1 on.
    virtual Sum accumulator(std::int64_t row, int col) const = 0;
    /// What a PE holds after the last cycle.
    virtual PeState<Operand, Sum> pe(int row, int col) const = 0;
    /// What column `col` gave its accumulators in the last cycle, if anything.
    virtual std::optional<IssuedSum<Sum>> issued(int col) const = 0;
    /// The accumulator row that column `col` wrote in the last cycle, if any: its sum can be read from now
    /// on.
    virtual std::optional<std::int64_t> written(int col) const = 0;
    /// Whether column `col` moved a row of a tile in (ws, is), or of finished outputs down (os), in the last
    /// cycle.
    virtual bool shifting(int col) const = 0;
};

using GridEngine = BasicGridEngine<std::int8_t, std::int32_t>;
using FloatGridEngine = BasicGridEngine<float, float>;

/// The engine for the dataflow of `spec`.
std::unique_ptr<MatrixEngine> make_tile_engine(const ArraySpec& spec);
std::unique_ptr<GridEngine> make_grid_engine(const ArraySpec& spec);
/// For fp32 operands, among them those of bf16 and fp16 (value_type.h).
std::unique_ptr<FloatGridEngine> make_float_grid_engine(const ArraySpec& spec);

}  // namespace systole
