// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a PE: operand type, sum type, and the exact order of rounding. A sum starts at +0 and
// goes on as sum = sum + a * w, product and sum each rounded to nearest even, never fused: in the order of
// rows 0 … R-1 as it flows down (ws, is), in the order of the vectors as it stays (os). The finished sum is
// then added onto the accumulator with one more rounding.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

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

/// fp32 operands and sums. With operands made by round_to_bf16 or round_to_fp16 the product is exact, since
/// two significands of 8 or 11 bits give 16 or 22 of fp32's 24; only the sums round. (Products of bf16 round,
/// too, where they leave the normal range of fp32.)
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

/// The fp16 number (IEEE binary16) nearest to `x` (ties to even; subnormals, infinity from 65520 on), as a
/// float; NaN stays NaN.
constexpr float round_to_fp16(float x) {
    if (x != x) return x;
    constexpr float kOverflow = 65520, kLeastNormal = 0x1p-14F, kSubnormalGrid = 0x1p-1F;
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = bits & 0x80000000U;
    const std::uint32_t size_bits = bits ^ sign;
    const auto size = std::bit_cast<float>(size_bits);
    const std::uint32_t even = (size_bits >> 13) & 1U;
    float rounded = std::bit_cast<float>((size_bits + 0xfffU + even) & 0xffffe000U);
    if (size >= kOverflow) rounded = std::numeric_limits<float>::infinity();
    // Floats from 1/2 to 1 lie 2^-24 apart, as fp16 subnormals do.
    if (size < kLeastNormal) rounded = (size + kSubnormalGrid) - kSubnormalGrid;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(rounded) | sign);
}

}  // namespace systole
