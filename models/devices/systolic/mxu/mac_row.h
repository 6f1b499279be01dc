// SPDX-License-Identifier: Apache-2.0
// The inner loops of the PE arrays: one row of PEs in one cycle. Plain loops over arrays that do not overlap,
// so that the compiler vectorizes them.
#pragma once

#include <cstdint>

namespace systole {

template <class Arithmetic>
void mac_row(const typename Arithmetic::Operand* __restrict a,
             const typename Arithmetic::Operand* __restrict b, typename Arithmetic::Sum* __restrict sum,
             int cols) {
    for (int j = 0; j < cols; ++j) sum[j] = Arithmetic::mac(sum[j], a[j], b[j]);
}

/// Counts flags (1 or 0), per column.
inline void count_row(const std::uint8_t* __restrict flag, std::uint8_t* __restrict count, int cols) {
    for (int j = 0; j < cols; ++j) count[j] = static_cast<std::uint8_t>(count[j] + flag[j]);
}

/// Counts where both flags are set.
inline void count_both_row(const std::uint8_t* __restrict one, const std::uint8_t* __restrict other,
                           std::uint8_t* __restrict count, int cols) {
    for (int j = 0; j < cols; ++j) count[j] = static_cast<std::uint8_t>(count[j] + (one[j] & other[j]));
}

}  // namespace systole
