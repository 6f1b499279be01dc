// SPDX-License-Identifier: Apache-2.0
// The registers of R x C output-stationary processing elements and their clock. Operands from the left move
// right and those from above move down, one PE a cycle; sums stay. Marks travel with the operands from the
// left: the first vector of a tile clears a sum, the last one makes it a result, which either moves down
// and out through the PEs below or leaves at once over its column's bus.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/devices/systolic/mxu/column_runs.h"
#include "models/devices/systolic/mxu/mac_row.h"
#include "models/devices/systolic/mxu/pe_state.h"
#include "models/devices/systolic/mxu/shift_registers.h"
#include "models/devices/systolic/mxu/visit_counts.h"
#include "sim/base/check.h"

namespace systole {

template <class Arithmetic>
class OsArray {
public:
    using Operand = typename Arithmetic::Operand;
    using Sum = typename Arithmetic::Sum;

    OsArray(int rows, int cols, bool result_shift)
        : left(rows),
          top(cols),
          out(cols),
          shift_step(cols, kNoStep),
          counts(rows, cols),
          rows_(rows),
          cols_(cols),
          result_shift_(result_shift),
          moving_(rows, cols),
          falling_(rows, cols),
          valid_(rows, cols),
          real_(rows, cols),
          first_(rows, cols),
          last_(rows, cols),
          top_valid_(rows, cols),
          top_real_(rows, cols),
          sum_(static_cast<std::size_t>(rows) * cols),
          result_(result_shift ? sum_.size() : 0) {}

    /// What enters column 0 in the coming clock; one entry per row.
    struct LeftEdge {
        explicit LeftEdge(int rows) : operand(rows), valid(rows), real(rows), first(rows), last(rows) {}
        std::vector<Operand> operand;
        std::vector<std::uint8_t> valid;  ///< the operand belongs to a vector
        std::vector<std::uint8_t> real;   ///< and is not padding
        std::vector<std::uint8_t> first;  ///< the sum starts anew with this product
        std::vector<std::uint8_t> last;   ///< the sum is a result after this product
    } left;
    /// What enters row 0 in the coming clock; one entry per column.
    struct TopEdge {
        explicit TopEdge(int cols) : operand(cols), valid(cols), real(cols) {}
        std::vector<Operand> operand;
        std::vector<std::uint8_t> valid, real;
    } top;
    /// What left the array in the last clock; one entry per column. `row`: of the PE whose output it is (over
    /// a bus) or that handed it out (below a shift), kNone for none.
    struct Outlets {
        static constexpr int kNone = -1;
        explicit Outlets(int cols) : result(cols), row(cols, kNone) {}
        std::vector<Sum> result;
        std::vector<int> row;
    } out;
    /// Step of the shift of results that each column is in, kNoStep for none. In step k only rows below k
    /// move: those above may already hold results of the next tile.
    std::vector<std::int32_t> shift_step;
    VisitCounts counts;

    /// One cycle of every PE, then one edge of every register.
    void clock();
    /// No PE multiplied a vector in the last clock.
    bool empty() const { return !valid_.any(); }
    PeState<Operand, Sum> pe(int row, int col) const;

private:
    std::size_t at(int row) const { return static_cast<std::size_t>(row) * cols_; }
    void shift_results();
    void move_down();
    void move_right();
    void multiply(int row);
    void release(int row);

    int rows_, cols_;
    bool result_shift_;
    RowShift<Operand> moving_;
    ColumnShift<Operand> falling_;
    FlagShift valid_, real_;
    MarkShift first_, last_;
    ColumnShift<std::uint8_t> top_valid_, top_real_;
    std::vector<Sum> sum_, result_;
    std::vector<ColumnRun> runs_;
};

template <class Arithmetic>
void OsArray<Arithmetic>::clock() {
    std::fill(out.row.begin(), out.row.end(), Outlets::kNone);
    if (result_shift_) shift_results();
    move_down();
    move_right();
    for (int row = 0; row < rows_; ++row) {
        if (!valid_.any(row)) continue;
        multiply(row);
        release(row);
    }
}

/// Column j hands its bottom result out, and the rows below its step take from above.
template <class Arithmetic>
void OsArray<Arithmetic>::shift_results() {
    find_runs(shift_step, runs_);
    for (const ColumnRun& run : runs_) {
        const auto bottom = result_.begin() + static_cast<std::ptrdiff_t>(at(rows_ - 1));
        std::copy(bottom + run.first, bottom + run.last + 1, out.result.begin() + run.first);
        std::fill(out.row.begin() + run.first, out.row.begin() + run.last + 1, rows_ - 1);
        for (int row = rows_ - 1; row > 0; --row) {
            const int begin = std::max(run.first, run.end_from(row));
            const auto above = result_.begin() + static_cast<std::ptrdiff_t>(at(row - 1));
            std::copy(above + begin, above + run.last + 1,
                      result_.begin() + static_cast<std::ptrdiff_t>(at(row)) + begin);
        }
    }
}

template <class Arithmetic>
void OsArray<Arithmetic>::move_down() {
    falling_.clock();
    top_valid_.clock();
    top_real_.clock();
    counts.clock();
    std::copy(top.operand.begin(), top.operand.end(), falling_.row(0));
    std::copy(top.valid.begin(), top.valid.end(), top_valid_.row(0));
    std::copy(top.real.begin(), top.real.end(), top_real_.row(0));
}

template <class Arithmetic>
void OsArray<Arithmetic>::move_right() {
    moving_.clock(left.operand);
    valid_.clock(left.valid);
    real_.clock(left.real);
    first_.clock(left.first);
    last_.clock(left.last);
}

/// In a bubble both operands are zero and leave the sum as it is: a sum that started at +0 is never -0.
template <class Arithmetic>
void OsArray<Arithmetic>::multiply(int row) {
    Sum* sum = &sum_[at(row)];
    first_.for_each(row, [&](int col) { sum[col] = Sum{}; });
    mac_row<Arithmetic>(moving_.row(row), falling_.row(row), sum, cols_);
    count_both_row(valid_.row(row), top_valid_.row(row), counts.visits(row), cols_);
    count_both_row(real_.row(row), top_real_.row(row), counts.hits(row), cols_);
}

template <class Arithmetic>
void OsArray<Arithmetic>::release(int row) {
    const Sum* sum = &sum_[at(row)];
    last_.for_each(row, [&](int col) {
        if (result_shift_) {
            result_[at(row) + col] = sum[col];
            return;
        }
        SYSTOLE_CHECK(out.row[col] == Outlets::kNone, "rows {} and {} of column {} on one bus", out.row[col],
                      row, col);
        out.row[col] = row;
        out.result[col] = sum[col];
    });
}

template <class Arithmetic>
auto OsArray<Arithmetic>::pe(int row, int col) const -> PeState<Operand, Sum> {
    return {.moving = moving_.row(row)[col],
            .stationary = falling_.row(row)[col],
            .shadow = Operand{},
            .sum = sum_[at(row) + col],
            .result = result_shift_ ? result_[at(row) + col] : Sum{},
            .valid = valid_.row(row)[col] != 0,
            .real = real_.row(row)[col] != 0 && top_real_.row(row)[col] != 0};
}

}  // namespace systole
