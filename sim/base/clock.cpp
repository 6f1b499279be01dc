// SPDX-License-Identifier: Apache-2.0
#include "sim/base/clock.h"

#include "sim/base/check.h"

namespace systole {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
static_assert(kTicksPerSecond == kMillion * kMillion);

/// Of products below which the two-step divisions stay within 64 bits: t / 10^6 * f and n / f * 10^12.
/// Frequencies are at most 10^12.
constexpr std::int64_t kFew = std::int64_t{1} << 62;

}  // namespace

ClockDomain::ClockDomain(Hertz frequency) : frequency_(frequency) {
    SYSTOLE_CHECK(frequency.value() >= 1 && frequency.value() <= kTicksPerSecond, "{} Hz", frequency.value());
}

Ticks ClockDomain::edge(Cycles n) const {
    const std::int64_t f = frequency_.value();
    if (n.value() >= 0 && n.value() / f < kFew / kTicksPerSecond) {
        // n = q f + r, and r 10^6 = a f + b: n 10^12 / f = q 10^12 + a 10^6 + b 10^6 / f.
        const std::int64_t r = n.value() % f * kMillion;
        return Ticks(n.value() / f * kTicksPerSecond + r / f * kMillion + r % f * kMillion / f);
    }
    const Int128 t = Int128{n.value()} * kTicksPerSecond / frequency_.value();
    SYSTOLE_CHECK(n.value() >= 0 && t <= Ticks::max().value(), "edge {} of {} Hz", n.value(),
                  frequency_.value());
    return Ticks(static_cast<std::int64_t>(t));
}

Cycles ClockDomain::at_or_after(Ticks t) const {
    // The least n with floor(n * 10^12 / f) >= t, which is the least n with n * 10^12 >= t * f.
    const std::int64_t f = frequency_.value();
    if (t.value() >= 0 && t.value() / kMillion < kFew / f) {
        // t = q 10^6 + r, and q f = a 10^6 + b: t f / 10^12 = a + (b 10^6 + r f) / 10^12.
        const std::int64_t whole = t.value() / kMillion * f;
        const std::int64_t rest = whole % kMillion * kMillion + t.value() % kMillion * f;
        return Cycles(whole / kMillion + (rest + kTicksPerSecond - 1) / kTicksPerSecond);
    }
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
