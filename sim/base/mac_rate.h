// SPDX-License-Identifier: Apache-2.0
// How fast multiply-accumulates are done, as a fraction, so that a PE that needs several cycles for one is as
// exact as one that does several a cycle.
#pragma once

#include <compare>
#include <cstdint>

namespace systole {

/// `macs` multiply-accumulates every `cycles` cycles; `cycles` is at least 1. Of a PE one of the two is 1.
struct MacRate {
    std::int64_t macs = 0;
    std::int64_t cycles = 1;

    friend constexpr bool operator==(const MacRate& a, const MacRate& b) {
        return a.macs * b.cycles == b.macs * a.cycles;
    }
    friend constexpr std::strong_ordering operator<=>(const MacRate& a, const MacRate& b) {
        return a.macs * b.cycles <=> b.macs * a.cycles;
    }
    friend constexpr MacRate operator*(std::int64_t n, const MacRate& rate) {
        return {n * rate.macs, rate.cycles};
    }
    /// MACs a cycle.
    constexpr double per_cycle() const { return static_cast<double>(macs) / static_cast<double>(cycles); }
};

}  // namespace systole
