// SPDX-License-Identifier: Apache-2.0
// The registers of R x C processing elements, one array per register, and their clock. Activations move
// right, sums and incoming weights move down, one PE a cycle; a swap mark travels with the first vector of a
// pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "models/devices/systolic/mxu/pe_state.h"

namespace systole {

template <class Arithmetic>
class PeArray {
public:
    using Operand = typename Arithmetic::Operand;
    using Sum = typename Arithmetic::Sum;

    PeArray(int rows, int cols, bool shadow_register)
        : left(rows),
          top(cols),
          rows_(rows),
          cols_(cols),
          shadow_(shadow_register),
          registers_(static_cast<std::size_t>(rows) * cols, shadow_register),
          no_sum_(cols),
          no_count_(cols) {}

    /// What enters column 0 in the coming clock; one entry per row.
    struct LeftEdge {
        explicit LeftEdge(int rows) : activation(rows), valid(rows), swap(rows) {}
        std::vector<Operand> activation;
        std::vector<std::uint8_t> valid;  ///< the activation belongs to a vector
        std::vector<std::uint8_t> swap;   ///< the shadow weight becomes the live one, before it is used
    } left;
    /// What enters row 0 in the coming clock; one entry per column.
    struct TopEdge {
        explicit TopEdge(int cols) : weight(cols), real(cols), step(cols, -1) {}
        std::vector<Operand> weight;
        std::vector<std::uint8_t> real;  ///< the weight is not padding
        /// Step of the shift this column is in, -1 for none. In step k the tile's rows have come down as far
        /// as row k; rows below still hold the weights of the tile before.
        std::vector<std::int32_t> step;
    } top;

    /// One cycle of every PE, then one edge of every register.
    void clock();

    /// What left row R - 1 in the last clock, per column: sums; PEs that added a vector's product to the sum;
    /// and how many of these had a real weight.
    const Sum* sums() const { return &registers_.sum[at(rows_ - 1)]; }
    const std::uint16_t* visits() const { return &registers_.visits[at(rows_ - 1)]; }
    const std::uint16_t* hits() const { return &registers_.hits[at(rows_ - 1)]; }

    PeState<Operand, Sum> pe(int row, int col) const {
        const std::size_t n = at(row) + col;
        const Registers& r = registers_;
        return {.moving = r.activation[n],
                .stationary = r.weight[n],
                .shadow = shadow_ ? r.shadow[n] : r.weight[n],
                .sum = r.sum[n],
                .result = Sum{},
                .valid = r.valid[n] != 0,
                .real = r.weight_real[n] != 0};
    }

private:
    struct Registers {
        Registers(std::size_t n, bool shadow_register)
            : activation(n),
              weight(n),
              shadow(shadow_register ? n : 0),
              sum(n),
              valid(n),
              swap(n),
              weight_real(n),
              shadow_real(shadow_register ? n : 0),
              visits(n),
              hits(n) {}
        std::vector<Operand> activation, weight, shadow;
        std::vector<Sum> sum;
        std::vector<std::uint8_t> valid, swap, weight_real, shadow_real;
        std::vector<std::uint16_t> visits, hits;  // instruments: they ride down with the sum
    };

    std::size_t at(int row) const { return static_cast<std::size_t>(row) * cols_; }
    void move_activations(int row);
    void swap_weights(int row);
    void multiply(int row);
    void move_weights(int row);

    int rows_, cols_;
    bool shadow_;
    Registers registers_;
    std::vector<Sum> no_sum_;              // enters row 0 from above
    std::vector<std::uint16_t> no_count_;  // likewise
};

namespace pe_array_detail {

template <class T>
void shift_right(T* row, int cols, T incoming) {
    std::memmove(row + 1, row, sizeof(T) * (cols - 1));
    row[0] = incoming;
}

template <class Arithmetic>
void mac_row(const typename Arithmetic::Sum* __restrict above,
             const typename Arithmetic::Operand* __restrict a,
             const typename Arithmetic::Operand* __restrict w, typename Arithmetic::Sum* __restrict sum,
             int cols) {
    for (int j = 0; j < cols; ++j) sum[j] = Arithmetic::mac(above[j], a[j], w[j]);
}

inline void count_row(const std::uint16_t* __restrict above, const std::uint8_t* __restrict flag,
                      std::uint16_t* __restrict count, int cols) {
    for (int j = 0; j < cols; ++j) count[j] = static_cast<std::uint16_t>(above[j] + flag[j]);
}

inline void count_both_row(const std::uint16_t* __restrict above, const std::uint8_t* __restrict one,
                           const std::uint8_t* __restrict other, std::uint16_t* __restrict count, int cols) {
    for (int j = 0; j < cols; ++j) count[j] = static_cast<std::uint16_t>(above[j] + (one[j] & other[j]));
}

template <class T>
void capture_row(const T* __restrict above, const std::int32_t* __restrict step, int row, T* __restrict own,
                 int cols) {
    for (int j = 0; j < cols; ++j) own[j] = step[j] >= row ? above[j] : own[j];
}

}  // namespace pe_array_detail

template <class Arithmetic>
void PeArray<Arithmetic>::clock() {
    const int deepest = *std::max_element(top.step.begin(), top.step.end());
    for (int row = rows_ - 1; row >= 0; --row) {  // upwards: the row above still holds its old state
        move_activations(row);
        if (shadow_) swap_weights(row);
        multiply(row);
        if (row <= deepest) move_weights(row);
    }
}

template <class Arithmetic>
void PeArray<Arithmetic>::move_activations(int row) {
    using pe_array_detail::shift_right;
    shift_right(&registers_.activation[at(row)], cols_, left.activation[row]);
    shift_right(&registers_.valid[at(row)], cols_, left.valid[row]);
    if (shadow_) shift_right(&registers_.swap[at(row)], cols_, left.swap[row]);
}

template <class Arithmetic>
void PeArray<Arithmetic>::swap_weights(int row) {
    const std::uint8_t* first = &registers_.swap[at(row)];
    const std::uint8_t* last = first + cols_;
    for (const std::uint8_t* mark = first;; ++mark) {  // few columns of a row swap in one cycle
        mark = static_cast<const std::uint8_t*>(std::memchr(mark, 1, last - mark));
        if (mark == nullptr) return;
        const std::size_t n = at(row) + (mark - first);
        registers_.weight[n] = registers_.shadow[n];
        registers_.weight_real[n] = registers_.shadow_real[n];
    }
}

template <class Arithmetic>
void PeArray<Arithmetic>::multiply(int row) {
    Registers& r = registers_;
    const std::size_t own = at(row);
    const bool first = row == 0;
    const std::size_t above = first ? 0 : at(row - 1);
    pe_array_detail::mac_row<Arithmetic>(first ? no_sum_.data() : &r.sum[above], &r.activation[own],
                                         &r.weight[own], &r.sum[own], cols_);
    pe_array_detail::count_row(first ? no_count_.data() : &r.visits[above], &r.valid[own], &r.visits[own],
                               cols_);
    pe_array_detail::count_both_row(first ? no_count_.data() : &r.hits[above], &r.valid[own],
                                    &r.weight_real[own], &r.hits[own], cols_);
}

template <class Arithmetic>
void PeArray<Arithmetic>::move_weights(int row) {
    Registers& r = registers_;
    std::vector<Operand>& weight = shadow_ ? r.shadow : r.weight;
    std::vector<std::uint8_t>& real = shadow_ ? r.shadow_real : r.weight_real;
    const bool first = row == 0;
    const std::size_t above = first ? 0 : at(row - 1);
    pe_array_detail::capture_row(first ? top.weight.data() : &weight[above], top.step.data(), row,
                                 &weight[at(row)], cols_);
    pe_array_detail::capture_row(first ? top.real.data() : &real[above], top.step.data(), row, &real[at(row)],
                                 cols_);
}

}  // namespace systole
