// SPDX-License-Identifier: Apache-2.0
// Registers that hand their contents to a neighbour in every clock, struct-of-arrays: rows of registers that
// move right, and columns of registers that move down. Nothing is copied: the frame of reference moves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace systole {

/// R rows of C registers. Every clock moves each one column to the right.
template <class T>
class RowShift {
public:
    RowShift(int rows, int cols) : cols_(cols), registers_(2 * static_cast<std::size_t>(rows) * cols) {}

    /// Every row moves; column 0 of each has to be entered next.
    void clock() { head_ = (head_ == 0 ? cols_ : head_) - 1; }
    /// Puts `value` into column 0 of `row`; answers what the clock moved out of column C - 1.
    T enter(int row, T value) {
        T* slot = &registers_[at(row)];
        slot[0] = value;
        return std::exchange(slot[cols_], value);
    }
    const T* row(int row) const { return &registers_[at(row)]; }

private:
    std::size_t at(int row) const { return 2 * static_cast<std::size_t>(row) * cols_ + head_; }

    int cols_;
    int head_ = 0;
    std::vector<T> registers_;  // each row a ring, stored twice so that a row is one run
};

/// R rows of C registers. Every clock moves each one row down.
template <class T>
class ColumnShift {
public:
    ColumnShift(int rows, int cols)
        : rows_(rows), cols_(cols), registers_(static_cast<std::size_t>(rows) * cols) {}

    /// Every column moves; row 0 holds what was in row R - 1 and has to be entered next.
    void clock() { top_ = (top_ == 0 ? rows_ : top_) - 1; }
    T* row(int row) { return &registers_[at(row)]; }
    const T* row(int row) const { return &registers_[at(row)]; }
    void clear_row(int row) { std::fill_n(this->row(row), cols_, T{}); }

private:
    std::size_t at(int row) const {
        const int slot = top_ + row;
        return static_cast<std::size_t>(slot < rows_ ? slot : slot - rows_) * cols_;
    }

    int rows_, cols_;
    int top_ = 0;
    std::vector<T> registers_;  // a ring of rows
};

/// Marks that travel right with the operands, one bit per PE.
class MarkShift {
public:
    MarkShift(int rows, int cols) : cols_(cols), bits_(rows, cols), set_(rows) {}

    void clock() { bits_.clock(); }
    void enter(int row, bool mark) {
        set_[row] += static_cast<int>(mark);
        set_[row] -= bits_.enter(row, static_cast<std::uint8_t>(mark));
    }
    /// 1 or 0 per column.
    const std::uint8_t* row(int row) const { return bits_.row(row); }
    bool any(int row) const { return set_[row] != 0; }
    bool any() const {
        return std::any_of(set_.begin(), set_.end(), [](int n) { return n != 0; });
    }
    /// visit(col) for every marked column of `row`: cheap while few are.
    template <class Visit>
    void for_each(int row, const Visit& visit) const {
        if (!any(row)) return;
        const std::uint8_t* first = bits_.row(row);
        const std::uint8_t* last = first + cols_;
        for (const std::uint8_t* mark = first;; ++mark) {
            mark = static_cast<const std::uint8_t*>(std::memchr(mark, 1, last - mark));
            if (mark == nullptr) return;
            visit(static_cast<int>(mark - first));
        }
    }

private:
    int cols_;
    RowShift<std::uint8_t> bits_;
    std::vector<int> set_;  // per row, how many
};

}  // namespace systole
