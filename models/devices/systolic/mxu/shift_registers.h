// SPDX-License-Identifier: Apache-2.0
// Registers that hand their contents to a neighbour in every clock, struct-of-arrays: rows of registers that
// move right, and columns of registers that move down. Nothing is copied: the frame of reference moves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace systole {

/// R rows of C registers. Every clock moves each one column to the right.
template <class T>
class RowShift {
public:
    RowShift(int rows, int cols) : cols_(cols), registers_(2 * static_cast<std::size_t>(rows) * cols) {}

    /// Every row moves; `edge` (one value per row) enters column 0. Tells leaves(row, value) what left column
    /// C - 1.
    template <class Leaves>
    void clock(const std::vector<T>& edge, const Leaves& leaves) {
        head_ = (head_ == 0 ? cols_ : head_) - 1;
        const std::ptrdiff_t cols = cols_;
        T* slot = registers_.data() + head_;
        for (std::size_t row = 0; row < edge.size(); ++row, slot += 2 * cols) {
            leaves(row, slot[cols]);
            slot[0] = slot[cols] = edge[row];
        }
    }
    void clock(const std::vector<T>& edge) {
        clock(edge, [](std::size_t, T) {});
    }
    const T* row(int row) const { return &registers_[2 * static_cast<std::size_t>(row) * cols_ + head_]; }

private:
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

/// Flags (1 or 0) that travel right with the operands.
class FlagShift {
public:
    FlagShift(int rows, int cols) : flags_(rows, cols), set_(rows) {}

    void clock(const std::vector<std::uint8_t>& edge) {
        int* set = set_.data();
        flags_.clock(edge, [&](std::size_t row, std::uint8_t left) { set[row] += edge[row] - left; });
    }
    const std::uint8_t* row(int row) const { return flags_.row(row); }
    bool any(int row) const { return set_[row] != 0; }
    bool any() const {
        return std::any_of(set_.begin(), set_.end(), [](int n) { return n != 0; });
    }

private:
    RowShift<std::uint8_t> flags_;
    std::vector<int> set_;  // per row, how many
};

/// Flags that are set so rarely that it pays to keep where they are: per row, when each entered column 0.
class MarkShift {
public:
    MarkShift(int rows, int cols) : cols_(cols), entered_(rows) {}

    void clock(const std::vector<std::uint8_t>& edge) {
        ++clock_;
        for (std::size_t row = 0; row < edge.size(); ++row)
            if (edge[row] != 0) enter(entered_[row]);
    }
    /// visit(col) for every marked column of `row`, from right to left.
    template <class Visit>
    void for_each(int row, const Visit& visit) const {
        for (const std::int64_t entered : entered_[row])
            if (clock_ - entered < cols_) visit(static_cast<int>(clock_ - entered));
    }

private:
    void enter(std::vector<std::int64_t>& marks) const {
        const auto left = [this](std::int64_t entered) { return clock_ - entered >= cols_; };
        marks.erase(marks.begin(), std::find_if_not(marks.begin(), marks.end(), left));
        marks.push_back(clock_);
    }

    int cols_;
    std::int64_t clock_ = 0;
    std::vector<std::vector<std::int64_t>> entered_;
};

}  // namespace systole
