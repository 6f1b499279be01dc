// SPDX-License-Identifier: Apache-2.0
// The accumulators below the array: rows x cols sums behind a read-add-write pipeline. A sum issued in cycle
// c is read by issues from cycle c + latency on; an issue before that reads the old sum, as the hardware
// would.
#pragma once

#include <cstdint>
#include <vector>

namespace systole {

template <class Arithmetic>
class Accumulators {
public:
    using Sum = typename Arithmetic::Sum;

    Accumulators(std::int64_t rows, int cols, std::int64_t latency)
        : cols_(cols), latency_(latency), sums_(rows * cols), pipeline_(latency * cols) {}

    /// Column `col` writes `value` to `row`, or adds it to what is readable there. Once per column and cycle.
    void issue(std::int64_t row, int col, Sum value, bool accumulate) {
        const Sum sum = accumulate ? Arithmetic::add(at(row, col), value) : value;
        pipeline_[stage_ * cols_ + col] = {row, sum};
        ++pending_;
    }
    /// One clock: the sums issued latency - 1 cycles ago become readable from the coming cycle on.
    void clock();

    Sum at(std::int64_t row, int col) const { return sums_[row * cols_ + col]; }
    /// Every sum issued is readable.
    bool settled() const { return pending_ == 0; }

private:
    struct Write {
        std::int64_t row = -1;  // -1: none
        Sum sum{};
    };

    int cols_;
    std::int64_t latency_;
    std::int64_t stage_ = 0;    // of the pipeline, that takes this cycle's sums
    std::int64_t pending_ = 0;  // sums in the pipeline
    std::vector<Sum> sums_;
    std::vector<Write> pipeline_;
};

template <class Arithmetic>
void Accumulators<Arithmetic>::clock() {
    stage_ = (stage_ + 1) % latency_;
    if (pending_ == 0) return;
    for (int col = 0; col < cols_; ++col) {
        Write& write = pipeline_[stage_ * cols_ + col];
        if (write.row < 0) continue;
        sums_[write.row * cols_ + col] = write.sum;
        write.row = -1;
        --pending_;
    }
}

}  // namespace systole
