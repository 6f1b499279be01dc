// SPDX-License-Identifier: Apache-2.0
// Strong types for what a simulator counts. A Ticks is never a Cycles, a Bytes never a Bits: mixing two of
// them does not compile. All are 64-bit integers; arithmetic that can leave that range on hostile input goes
// through checked_add and checked_mul.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace systole {

/// An integer amount of one kind of thing. `Tag` only tells kinds apart.
template <class Tag>
class Quantity {
public:
    constexpr Quantity() = default;
    constexpr explicit Quantity(std::int64_t value) : value_(value) {}

    constexpr std::int64_t value() const { return value_; }
    static constexpr Quantity max() { return Quantity(std::numeric_limits<std::int64_t>::max()); }

    friend constexpr auto operator<=>(Quantity, Quantity) = default;
    constexpr Quantity& operator+=(Quantity other) { return value_ += other.value_, *this; }
    constexpr Quantity& operator-=(Quantity other) { return value_ -= other.value_, *this; }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
    friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return Quantity(a.value_ * n); }
    friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return Quantity(a.value_ * n); }
    /// How many times `b` fits into `a`: a plain number.
    friend constexpr std::int64_t operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }

private:
    std::int64_t value_ = 0;
};

using Ticks = Quantity<struct TicksTag>;    ///< simulated time, 1 tick = 1 ps
using Cycles = Quantity<struct CyclesTag>;  ///< clock edges of one stated clock domain
using Bytes = Quantity<struct BytesTag>;
using Bits = Quantity<struct BitsTag>;
using Macs = Quantity<struct MacsTag>;                 ///< multiply-accumulate operations
using Hertz = Quantity<struct HertzTag>;               ///< a clock's frequency
using Femtojoules = Quantity<struct EnergyTag>;        ///< 1 pJ = 1000
using Milliwatts = Quantity<struct PowerTag>;          ///< 1 mW for 1 ps is 1 fJ
using BytesPerSecond = Quantity<struct BytesRateTag>;  ///< a bandwidth; 1 GB/s = 1e9

/// For products of two quantities that only their quotient brings back into range.
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

constexpr std::int64_t kTicksPerSecond = 1'000'000'000'000;

/// ⌈a / b⌉ for a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return a / b + (a % b != 0);
}

/// The least multiple of `step` that is at least `a`.
constexpr std::int64_t round_up(std::int64_t a, std::int64_t step) {
    return ceil_div(a, step) * step;
}

/// Whole bytes that hold `bits`.
constexpr Bytes to_bytes(Bits bits) {
    return Bytes(ceil_div(bits.value(), 8));
}

}  // namespace systole
