// SPDX-License-Identifier: Apache-2.0
// What programs of mma.sync and of wgmma have in common.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/base/units.h"
#include "sim/workload/dtype.h"

namespace systole::simt {

constexpr std::int64_t kWarpThreads = 32;    ///< of those two's chips
constexpr std::int64_t kFragmentBytes = 32;  ///< of K, that one instruction of a tensor core takes
/// Registers of a thread besides sums and fragments: addresses, predicates, loop counters (CUTLASS's kernels
/// of 128 x 128 take 230 with 128 of sums and 64 of fragments).
constexpr int kOtherRegisters = 38;

/// Bytes of an element, one at least.
inline std::int64_t element_bytes(DType dtype) {
    return std::max<std::int64_t>(1, bits_of(dtype).value() / 8);
}
/// Bytes that so many elements of an operand fill.
inline std::int64_t bytes_of(DType dtype, std::int64_t elements) {
    return ceil_div(elements * bits_of(dtype).value(), std::int64_t{8});
}
/// Elements along K of one instruction.
inline std::int64_t k_of_fragment(DType dtype) {
    return kFragmentBytes * 8 / bits_of(dtype).value();
}

}  // namespace systole::simt
