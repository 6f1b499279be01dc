// SPDX-License-Identifier: Apache-2.0
#include "sim/base/text.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace systole {
namespace {

template <std::size_t N>
std::string scaled(double value, const std::array<std::string_view, N>& units) {
    std::size_t unit = 0;
    // 999.95 would print as "1000" in four digits, so it moves on to the next unit.
    while (value >= 999.95 && unit + 1 < N) {
        value /= 1000;
        ++unit;
    }
    const int decimals = value >= 100 ? 1 : value >= 10 ? 2 : 3;
    return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

}  // namespace

std::string with_thousands(std::int64_t value) {
    std::string digits = std::to_string(value);
    const std::size_t first = value < 0 ? 1 : 0;
    for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
    return digits;
}

std::string format_time(Ticks time) {
    if (time.value() < 1000) return fmt::format("{} ps", time.value());
    static constexpr std::array<std::string_view, 4> kUnits{"ns", "us", "ms", "s"};
    return scaled(static_cast<double>(time.value()) / 1000, kUnits);
}

std::string format_bytes(Bytes bytes) {
    if (bytes.value() < 1000) return fmt::format("{} B", bytes.value());
    static constexpr std::array<std::string_view, 5> kUnits{"kB", "MB", "GB", "TB", "PB"};
    return scaled(static_cast<double>(bytes.value()) / 1000, kUnits);
}

std::string format_energy(Femtojoules energy) {
    constexpr std::array<std::string_view, 6> kUnits{"fJ", "pJ", "nJ", "uJ", "mJ", "J"};
    return scaled(static_cast<double>(energy.value()), kUnits);
}

std::string format_percent(double fraction) {
    return fmt::format("{:.1f}", 100 * fraction);
}

}  // namespace systole
