// SPDX-License-Identifier: Apache-2.0
#include "sim/base/clock.h"

#include "sim/base/check.h"

namespace systole {
ClockDomain::ClockDomain(Hertz frequency)
    : frequency_(frequency),
      ticks_per_cycle_(static_cast<long double>(kTicksPerSecond) /
                       static_cast<long double>(frequency.value())),
      cycles_per_tick_(static_cast<long double>(frequency.value()) /
                       static_cast<long double>(kTicksPerSecond)) {
    SYSTOLE_CHECK(frequency.value() >= 1 && frequency.value() <= kTicksPerSecond, "{} Hz", frequency.value());
}

Ticks ClockDomain::edge(Cycles n) const {
    const long double about = static_cast<long double>(n.value()) * ticks_per_cycle_;
    SYSTOLE_CHECK(n.value() >= 0 && about < static_cast<long double>(Ticks::max().value()) - 1,
                  "edge {} of {} Hz", n.value(), frequency_.value());
    // The greatest t with t * f <= n * 10^12. Multiplying is what takes no time.
    const Int128 f = frequency_.value(), scaled = Int128{n.value()} * kTicksPerSecond;
    auto t = static_cast<std::int64_t>(about);
    while (t * f > scaled) --t;
    while ((t + 1) * f <= scaled) ++t;
    return Ticks(t);
}

Cycles ClockDomain::at_or_after(Ticks t) const {
    // The least n with floor(n * 10^12 / f) >= t, which is the least n with n * 10^12 >= t * f.
    const Int128 product = Int128{t.value()} * frequency_.value();
    auto n = static_cast<std::int64_t>(static_cast<long double>(t.value()) * cycles_per_tick_);
    while (n * Int128{kTicksPerSecond} < product) ++n;
    while ((n - 1) * Int128{kTicksPerSecond} >= product) --n;
    return Cycles(n);
}

Cycles ClockDomain::at_or_before(Ticks t) const {
    const Cycles next = at_or_after(t);
    // Edge `next` lies at t, and not behind it, where next * 10^12 < (t + 1) * f.
    const Int128 behind = Int128{next.value()} * kTicksPerSecond - Int128{t.value()} * frequency_.value();
    return behind < frequency_.value() ? next : next - Cycles(1);
}

}  // namespace systole
