// SPDX-License-Identifier: Apache-2.0
#include "sim/base/clock.h"

#include "sim/base/check.h"

namespace systole {

ClockDomain::ClockDomain(Hertz frequency) : frequency_(frequency) {
    SYSTOLE_CHECK(frequency.value() >= 1 && frequency.value() <= kTicksPerSecond, "{} Hz", frequency.value());
}

Ticks ClockDomain::edge(Cycles n) const {
    const Int128 t = Int128{n.value()} * kTicksPerSecond / frequency_.value();
    SYSTOLE_CHECK(n.value() >= 0 && t <= Ticks::max().value(), "edge {} of {} Hz", n.value(),
                  frequency_.value());
    return Ticks(static_cast<std::int64_t>(t));
}

Cycles ClockDomain::at_or_after(Ticks t) const {
    // The least n with floor(n * 10^12 / f) >= t, which is the least n with n * 10^12 >= t * f.
    const Int128 product = Int128{t.value()} * frequency_.value();
    return Cycles(static_cast<std::int64_t>((product + kTicksPerSecond - 1) / kTicksPerSecond));
}

Cycles ClockDomain::at_or_before(Ticks t) const {
    const Cycles next = at_or_after(t);
    // Edge `next` lies at t, and not behind it, where next * 10^12 < (t + 1) * f.
    const Int128 behind = Int128{next.value()} * kTicksPerSecond - Int128{t.value()} * frequency_.value();
    return behind < frequency_.value() ? next : next - Cycles(1);
}

}  // namespace systole
