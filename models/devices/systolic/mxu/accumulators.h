// SPDX-License-Identifier: Apache-2.0
// The accumulators below the array: rows x cols sums behind a read-add-write pipeline. A sum issued in cycle
// c is read by issues from cycle c + latency on; an issue before that reads the old sum, as the hardware
// would.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/devices/systolic/mxu/pe_state.h"

namespace systole {

template <class Arithmetic>
class Accumulators {
public:
    using Sum = typename Arithmetic::Sum;

    Accumulators(std::int64_t rows, int cols, std::int64_t latency)
        : cols_(cols),
          latency_(latency),
          issued_(cols),
          written_(cols),
          sums_(rows * cols),
          pipeline_(latency * cols) {}

    /// Column `col` writes `value` to `row`, or adds it to what is readable there. Once per column and cycle.
    void issue(std::int64_t row, int col, Sum value, bool accumulate) {
        issued_[col] = {clock_, {row, value}};
        const Sum sum = accumulate ? Arithmetic::add(at(row, col), value) : value;
        pipeline_[stage_ * cols_ + col] = {row, sum};
        ++pending_;
    }
    /// One clock: the sums issued latency - 1 cycles ago become readable from the coming cycle on.
    void clock();
    /// Any number of clocks in which nothing is issued and nothing is pending.
    void rest() { ++clock_; }

    /// What column `col` issued before the last clock, not yet added; nothing after a rest.
    std::optional<IssuedSum<Sum>> issued(int col) const {
        if (issued_[col].clock + 1 != clock_) return std::nullopt;
        return issued_[col].issued;
    }
    /// The row that column `col` wrote in the last clock, so that its sum can be read from now on.
    std::optional<std::int64_t> written(int col) const {
        if (written_[col].clock != clock_) return std::nullopt;
        return written_[col].row;
    }
    Sum at(std::int64_t row, int col) const { return sums_[row * cols_ + col]; }
    /// Every sum issued is readable.
    bool settled() const { return pending_ == 0; }

private:
    struct Write {
        std::int64_t row = -1;  // -1: none
        Sum sum{};
    };
    /// The last sum of a column, and when: a stamp, so that no cycle has to clear it.
    struct Stamped {
        std::int64_t clock = -2;
        IssuedSum<Sum> issued;
    };
    /// The row that a column wrote last, and when it could be read.
    struct Written {
        std::int64_t clock = -1, row = 0;
    };

    int cols_;
    std::int64_t latency_;
    std::int64_t stage_ = 0;    // of the pipeline, that takes this cycle's sums
    std::int64_t pending_ = 0;  // sums in the pipeline
    std::int64_t clock_ = 0;
    std::vector<Stamped> issued_;
    std::vector<Written> written_;
    std::vector<Sum> sums_;
    std::vector<Write> pipeline_;
};

template <class Arithmetic>
void Accumulators<Arithmetic>::clock() {
    ++clock_;
    stage_ = (stage_ + 1) % latency_;
    if (pending_ == 0) return;
    for (int col = 0; col < cols_; ++col) {
        Write& write = pipeline_[stage_ * cols_ + col];
        if (write.row < 0) continue;
        sums_[write.row * cols_ + col] = write.sum;
        written_[col] = {clock_, write.row};
        write.row = -1;
        --pending_;
    }
}

}  // namespace systole
