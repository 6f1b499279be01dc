// SPDX-License-Identifier: Apache-2.0
// The registers of R x C processing elements over a stationary tile, and their clock. Operands from the left
// move right, sums and an incoming tile move down, one PE a cycle; a swap mark travels with the first vector
// of a pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/devices/systolic/mxu/column_runs.h"
#include "models/devices/systolic/mxu/mac_row.h"
#include "models/devices/systolic/mxu/pe_state.h"
#include "models/devices/systolic/mxu/shift_registers.h"
#include "models/devices/systolic/mxu/visit_counts.h"

namespace systole {

template <class Arithmetic>
class PeArray {
public:
    using Operand = typename Arithmetic::Operand;
    using Sum = typename Arithmetic::Sum;

    PeArray(int rows, int cols, bool shadow_register)
        : left(rows),
          top(cols),
          counts(rows, cols),
          rows_(rows),
          cols_(cols),
          shadow_register_(shadow_register),
          moving_(rows, cols),
          valid_(rows, cols),
          swap_(rows, cols),
          sum_(rows, cols),
          live_(static_cast<std::size_t>(rows) * cols),
          shadow_(shadow_register ? live_.operand.size() : 0) {}

    /// What enters column 0 in the coming clock; one entry per row.
    struct LeftEdge {
        explicit LeftEdge(int rows) : operand(rows), valid(rows), swap(rows) {}
        std::vector<Operand> operand;
        std::vector<std::uint8_t> valid;  ///< the operand belongs to a vector
        std::vector<std::uint8_t> swap;   ///< the shadow operand becomes the live one, before it is used
    } left;
    /// What enters row 0 in the coming clock; one entry per column.
    struct TopEdge {
        explicit TopEdge(int cols) : operand(cols), real(cols), step(cols, kNoStep) {}
        std::vector<Operand> operand;
        std::vector<std::uint8_t> real;  ///< the operand is not padding
        /// Step of the shift this column is in, kNoStep for none. In step k the tile's rows have come down as
        /// far as row k; rows below still hold the tile before.
        std::vector<std::int32_t> step;
    } top;
    VisitCounts counts;

    /// One cycle of every PE, then one edge of every register.
    void clock();
    /// What left row R - 1 in the last clock, one sum per column.
    const Sum* sums() const { return sum_.row(rows_ - 1); }
    /// No PE multiplied a vector in the last clock.
    bool empty() const { return !valid_.any(); }
    PeState<Operand, Sum> pe(int row, int col) const;

private:
    /// One operand per PE, and whether it is real.
    struct StationaryTile {
        explicit StationaryTile(std::size_t pes) : operand(pes), real(pes) {}
        std::vector<Operand> operand;
        std::vector<std::uint8_t> real;
    };

    std::size_t at(int row) const { return static_cast<std::size_t>(row) * cols_; }
    void move_down();
    void swap(int row);
    void multiply(int row);
    void shift_tile(int row);

    int rows_, cols_;
    bool shadow_register_;
    RowShift<Operand> moving_;
    FlagShift valid_;
    MarkShift swap_;
    ColumnShift<Sum> sum_;
    StationaryTile live_, shadow_;
    std::vector<ColumnRun> runs_;  // columns in which a tile is being shifted in
};

template <class Arithmetic>
void PeArray<Arithmetic>::clock() {
    find_runs(top.step, runs_);
    moving_.clock(left.operand);
    valid_.clock(left.valid);
    swap_.clock(left.swap);
    move_down();
    for (int row = rows_ - 1; row >= 0; --row) {  // upwards: the row above still holds its old tile
        if (shadow_register_) swap(row);
        if (valid_.any(row)) multiply(row);
        shift_tile(row);
    }
}

template <class Arithmetic>
void PeArray<Arithmetic>::move_down() {
    sum_.clock();
    sum_.clear_row(0);
    counts.clock();
}

template <class Arithmetic>
void PeArray<Arithmetic>::swap(int row) {
    swap_.for_each(row, [&](int col) {
        live_.operand[at(row) + col] = shadow_.operand[at(row) + col];
        live_.real[at(row) + col] = shadow_.real[at(row) + col];
    });
}

/// In a bubble the operand is zero and leaves the sum from above as it is.
template <class Arithmetic>
void PeArray<Arithmetic>::multiply(int row) {
    mac_row<Arithmetic>(moving_.row(row), &live_.operand[at(row)], sum_.row(row), cols_);
    count_row(valid_.row(row), counts.visits(row), cols_);
    count_both_row(valid_.row(row), &live_.real[at(row)], counts.hits(row), cols_);
}

template <class Arithmetic>
void PeArray<Arithmetic>::shift_tile(int row) {
    StationaryTile& tile = shadow_register_ ? shadow_ : live_;
    const Operand* operand = row == 0 ? top.operand.data() : &tile.operand[at(row - 1)];
    const std::uint8_t* real = row == 0 ? top.real.data() : &tile.real[at(row - 1)];
    for (const ColumnRun& run : runs_) {
        const int end = run.end_from(row);
        if (end <= run.first) continue;
        std::copy(operand + run.first, operand + end, &tile.operand[at(row)] + run.first);
        std::copy(real + run.first, real + end, &tile.real[at(row)] + run.first);
    }
}

template <class Arithmetic>
auto PeArray<Arithmetic>::pe(int row, int col) const -> PeState<Operand, Sum> {
    const std::size_t n = at(row) + col;
    return {.moving = moving_.row(row)[col],
            .stationary = live_.operand[n],
            .shadow = (shadow_register_ ? shadow_ : live_).operand[n],
            .sum = sum_.row(row)[col],
            .result = Sum{},
            .valid = valid_.row(row)[col] != 0,
            .real = live_.real[n] != 0};
}

}  // namespace systole
