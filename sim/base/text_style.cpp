// SPDX-License-Identifier: Apache-2.0
#include "sim/base/text_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace systole {

std::string painted(std::string_view text, Ink ink, const TextStyle& style) {
    if (!style.colour || text.empty() || ink == kPlain) return std::string(text);
    std::string codes = ink.weight == Ink::Weight::Strong ? "1" : ink.weight == Ink::Weight::Faint ? "2" : "";
    if (ink.colour != Ink::kDefaultColour)
        codes += fmt::format("{}38;5;{}", codes.empty() ? "" : ";", ink.colour);
    return fmt::format("\033[{}m{}\033[0m", codes, text);
}

std::string sparkline(const std::vector<double>& values, double most) {
    static constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    // Sums of shares that should be a whole number of eighths may miss it by their rounding.
    constexpr double kRounding = 1e-9;
    std::string line;
    for (const double value : values) {
        const auto height = std::floor(value / most * kBars.size() + kRounding);
        line += kBars[static_cast<std::size_t>(std::clamp(height, 0.0, kBars.size() - 1.0))];
    }
    return line;
}

}  // namespace systole
