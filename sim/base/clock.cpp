// SPDX-License-Identifier: Apache-2.0
#include "sim/base/clock.h"

#include <algorithm>
#include <numeric>

#include "sim/base/check.h"

namespace systole {
namespace {

/// What both sides of `hertz` edges in kTicksPerSecond ticks are divided by.
std::int64_t common(Hertz frequency) {
    SYSTOLE_CHECK(frequency.value() >= 1 && frequency.value() <= kTicksPerSecond, "{} Hz", frequency.value());
    return std::gcd(frequency.value(), kTicksPerSecond);
}

std::uint64_t parts(std::int64_t whole, std::int64_t of) {
    return static_cast<std::uint64_t>(whole / of);
}

}  // namespace

ClockDomain::Ratio::Ratio(std::uint64_t dividend_in, std::uint64_t divisor_in)
    : dividend(dividend_in),
      divisor(divisor_in),
      whole(dividend / divisor),
      fraction(static_cast<std::uint64_t>((UInt128{dividend % divisor} << 64) / divisor)) {}

ClockDomain::ClockDomain(Hertz frequency)
    : frequency_(frequency),
      ticks_per_cycle_(parts(kTicksPerSecond, common(frequency)),
                       parts(frequency.value(), common(frequency))),
      cycles_per_tick_(ticks_per_cycle_.divisor, ticks_per_cycle_.dividend) {
    const Int128 last = Int128{Ticks::max().value() - 1} * frequency.value() / kTicksPerSecond;
    last_ = Cycles(static_cast<std::int64_t>(std::min<Int128>(last, Cycles::max().value() - 1)));
}

void ClockDomain::check(Cycles n) const {
    SYSTOLE_CHECK(Cycles(0) <= n && n <= last_, "edge {} of {} Hz", n.value(), frequency_.value());
}

}  // namespace systole
