// SPDX-License-Identifier: Apache-2.0
// A clock domain: an integer frequency whose n-th edge lies at floor(n * 10^12 / f) ps, exactly.
// A rounded period is never accumulated (667 ps for 1.5 GHz would be 500 ppm off), so no domain ever drifts.
#pragma once

#include <cstdint>

#include "sim/base/units.h"

namespace systole {

class ClockDomain {
public:
    /// `frequency` in hertz, 1 … 10^12 (one edge per tick at most).
    explicit ClockDomain(Hertz frequency);

    Hertz frequency() const { return frequency_; }

    /// The time of edge `n` (n >= 0).
    Ticks edge(Cycles n) const {
        if (n < Cycles(0) || n > last_) [[unlikely]]
            check(n);
        const auto edges = static_cast<std::uint64_t>(n.value());
        const std::uint64_t t = ticks_per_cycle_.below(edges);
        // The exact quotient is this or the next, and what is left of it less than twice the divisor: so it
        // fits where the products do not.
        const bool next =
            edges * ticks_per_cycle_.dividend - t * ticks_per_cycle_.divisor >= ticks_per_cycle_.divisor;
        return Ticks(static_cast<std::int64_t>(t + (next ? 1 : 0)));
    }
    /// The number of the first edge at or after `t` (t >= 0).
    Cycles at_or_after(Ticks t) const { return number(first(static_cast<std::uint64_t>(t.value()))); }
    /// The number of the last edge at or before `t` (t >= 0): that before the first which is later.
    Cycles at_or_before(Ticks t) const {
        return number(first(static_cast<std::uint64_t>(t.value()) + 1) - 1);
    }
    /// The time of the first edge at or after `t`.
    Ticks align(Ticks t) const { return edge(at_or_after(t)); }
    /// The time of the edge `n` cycles after the first edge at or after `t`.
    Ticks after(Ticks t, Cycles n) const { return edge(at_or_after(t) + n); }

private:
    /// dividend / divisor, of which whole + fraction / 2^64 is what fits: multiplying takes less than
    /// dividing.
    struct Ratio {
        Ratio(std::uint64_t dividend, std::uint64_t divisor);
        /// Of `n` < 2^64 times the ratio the whole part, or one less.
        std::uint64_t below(std::uint64_t n) const {
            return n * whole + static_cast<std::uint64_t>(UInt128{n} * fraction >> 64);
        }
        std::uint64_t dividend, divisor, whole, fraction;
    };

    /// The least n with floor(n * 10^12 / f) >= t, which is the least with n * 10^12 >= t * f.
    std::uint64_t first(std::uint64_t t) const {
        const std::uint64_t n = cycles_per_tick_.below(t);
        const std::uint64_t left = t * cycles_per_tick_.dividend - n * cycles_per_tick_.divisor;
        return n + (left > 0 ? 1 : 0) + (left > cycles_per_tick_.divisor ? 1 : 0);
    }
    static Cycles number(std::uint64_t n) { return Cycles(static_cast<std::int64_t>(n)); }
    [[gnu::cold]] void check(Cycles n) const;

    Hertz frequency_;
    Ratio ticks_per_cycle_, cycles_per_tick_;  // in lowest terms
    Cycles last_;                              // whose edge is a time
};

}  // namespace systole
