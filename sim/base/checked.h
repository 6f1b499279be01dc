// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes that come from the user, where a product may leave 64 bits.
#pragma once

#include <cstdint>
#include <optional>

namespace systole {

/// a * b, or nothing if the product leaves the 64-bit range.
constexpr std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
    return result;
}

/// a + b, or nothing if the sum leaves the 64-bit range.
constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
    return result;
}

}  // namespace systole
