// SPDX-License-Identifier: Apache-2.0
// A clock domain: an integer frequency whose n-th edge lies at floor(n * 10^12 / f) ps, computed in 128 bits.
// A rounded period is never accumulated (667 ps for 1.5 GHz would be 500 ppm off), so no domain ever drifts.
#pragma once

#include "sim/base/units.h"

namespace systole {

class ClockDomain {
public:
    /// `frequency` in hertz, 1 … 10^12 (one edge per tick at most).
    explicit ClockDomain(Hertz frequency);

    Hertz frequency() const { return frequency_; }

    /// The time of edge `n` (n >= 0).
    Ticks edge(Cycles n) const;
    /// The number of the first edge at or after `t` (t >= 0).
    Cycles at_or_after(Ticks t) const;
    /// The number of the last edge at or before `t` (t >= 0).
    Cycles at_or_before(Ticks t) const;
    /// The time of the first edge at or after `t`.
    Ticks align(Ticks t) const { return edge(at_or_after(t)); }
    /// The time of the edge `n` cycles after the first edge at or after `t`.
    Ticks after(Ticks t, Cycles n) const { return edge(at_or_after(t) + n); }

private:
    Hertz frequency_;
    long double ticks_per_cycle_, cycles_per_tick_;  // estimates, of which the exact answer is the neighbour
};

}  // namespace systole
