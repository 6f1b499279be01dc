// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a PE: operand type, sum type, and the exact order of rounding. A sum flows down rows 0 …
// R-1 as sum = sum + a * w (product and sum each rounded to nearest even, never fused), starting from +0; the
// finished column sum is then added onto the accumulator with one more rounding.
#pragma once

#include <bit>
#include <cstdint>

namespace systole {

/// int8 operands, int32 sums. A wrap-around is that of two's complement, as in hardware.
struct Int8Arithmetic {
    using Operand = std::int8_t;
    using Sum = std::int32_t;
    static constexpr Sum mac(Sum sum, Operand a, Operand w) {
        return add(sum, static_cast<Sum>(a) * static_cast<Sum>(w));
    }
    static constexpr Sum add(Sum a, Sum b) {
        return static_cast<Sum>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    }
};

/// fp32 operands and sums. With bf16 operands (floats made by round_to_bf16) the product is exact, since two
/// 8-bit significands give 16 bits; only the sums round.
struct Float32Arithmetic {
    using Operand = float;
    using Sum = float;
    static constexpr Sum mac(Sum sum, Operand a, Operand w) { return sum + a * w; }
    static constexpr Sum add(Sum a, Sum b) { return a + b; }
};

/// The bf16 number nearest to `x` (ties to even), as a float; NaN stays NaN.
constexpr float round_to_bf16(float x) {
    if (x != x) return x;
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t even = (bits >> 16) & 1U;
    return std::bit_cast<float>((bits + 0x7fffU + even) & 0xffff0000U);
}

}  // namespace systole
