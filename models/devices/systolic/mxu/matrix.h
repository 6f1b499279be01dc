// SPDX-License-Identifier: Apache-2.0
// Values on their way into an array.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

namespace systole {

/// Row-major values; without any, every element is zero.
template <class T>
struct Matrix {
    std::int64_t cols = 0;
    std::vector<T> values;

    bool fits(std::int64_t rows, std::int64_t columns) const {
        return values.empty() || (cols == columns && std::ssize(values) == rows * columns);
    }
    T at(std::int64_t row, std::int64_t col) const { return values.empty() ? T{} : values[row * cols + col]; }
};

}  // namespace systole
