// SPDX-License-Identifier: Apache-2.0
// A positive rational: the cycles that one streamed vector occupies its scratchpad port. Products with a
// vector number stay in 64 bits because every factor is below 2^31 (checked where a pass enters an engine).
#pragma once

#include <cstdint>
#include <numeric>

#include "sim/base/units.h"

namespace systole {

struct Rational {
    /// Of either term.
    static constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;

    std::int64_t num = 1;
    std::int64_t den = 1;

    /// num / den in lowest terms; both positive.
    static constexpr Rational reduced(std::int64_t num, std::int64_t den) {
        const std::int64_t divisor = std::gcd(num, den);
        return {num / divisor, den / divisor};
    }

    /// floor(n * this), n >= 0.
    constexpr std::int64_t floor_times(std::int64_t n) const { return n * num / den; }
    /// ceil(n * this), n >= 0.
    constexpr std::int64_t ceil_times(std::int64_t n) const { return ceil_div(n * num, den); }

    friend constexpr bool operator==(const Rational&, const Rational&) = default;
};

}  // namespace systole
