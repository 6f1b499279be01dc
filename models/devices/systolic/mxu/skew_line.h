// SPDX-License-Identifier: Apache-2.0
// The delay registers along an edge of the array: what enters in one cycle reaches tap n of the line n cycles
// later. Row i of the left edge reads tap i, column j of the top edge tap j.
#pragma once

#include <algorithm>
#include <vector>

namespace systole {

template <class T>
class SkewLine {
public:
    /// A line with taps 0 … length - 1, all holding T{}.
    explicit SkewLine(int length) : length_(length), registers_(2 * static_cast<std::size_t>(length)) {}

    /// One clock: every value moves to the next tap, `value` to tap 0.
    void push(const T& value) {
        head_ = (head_ == 0 ? length_ : head_) - 1;
        registers_[head_] = registers_[head_ + length_] = value;
    }
    const T& tap(int n) const { return registers_[head_ + n]; }
    /// As many clocks as it takes to push every value out.
    void clear() { std::fill(registers_.begin(), registers_.end(), T{}); }

private:
    int length_;
    int head_ = 0;
    std::vector<T> registers_;  // a ring, stored twice so that all taps are one run
};

}  // namespace systole
