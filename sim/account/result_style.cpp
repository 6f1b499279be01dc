// SPDX-License-Identifier: Apache-2.0
#include "sim/account/result_style.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "sim/base/text.h"

namespace systole {
namespace {

/// Whether it prints as nothing.
bool is_zero(double fraction) {
    return format_percent(fraction) == "0.0";
}

}  // namespace

Ink class_ink(SlotClass slot_class) {
    // Of middle lightness, so that they can be read on dark and on light ground.
    static constexpr std::array<int, kSlotClasses> kColours{32, 67, 110, 175, 166, 172, 142, 36, 97, 245};
    return {Ink::Weight::Normal, kColours.at(static_cast<std::size_t>(slot_class))};
}

Ink bound_ink(std::string_view bound) {
    if (bound == "compute") return class_ink(SlotClass::Useful);
    if (bound == "chips") return class_ink(SlotClass::Host);
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        if (const auto slot_class = static_cast<SlotClass>(i); to_string(slot_class) == bound)
            return class_ink(slot_class);
    return kPlain;
}

void ink_classes(TextTable& table, std::size_t first, const std::vector<SlotClass>& classes,
                 const ResultRow& row) {
    const auto loss = [&row](SlotClass slot_class) {
        return slot_class == SlotClass::Useful ? 0 : row.fraction(slot_class);
    };
    const auto largest = std::max_element(classes.begin(), classes.end(),
                                          [&](SlotClass a, SlotClass b) { return loss(a) < loss(b); });
    for (auto at = classes.begin(); at != classes.end(); ++at) {
        const auto column = first + static_cast<std::size_t>(at - classes.begin());
        if (is_zero(row.fraction(*at)))
            table.ink(column, kFaint);
        else if (at == largest && *at != SlotClass::Useful)
            table.ink(column, class_ink(*at));
    }
}

std::vector<double> utilization_over_time(const DeviceResult& result, std::size_t bins) {
    const auto whole = static_cast<double>(result.total.time().value());
    if (whole <= 0 || bins == 0) return {};
    std::vector<double> fractions(bins, 0);
    const double bin = whole / static_cast<double>(bins);
    for (const ResultRow& row : result.layers) {
        const auto begin = static_cast<double>((row.begin - result.total.begin).value());
        const auto end = static_cast<double>((row.end - result.total.begin).value());
        for (auto i = static_cast<std::size_t>(begin / bin); i < bins; ++i) {
            const double left = bin * static_cast<double>(i);
            if (left >= end) break;
            fractions[i] += row.utilization() * (std::min(end, left + bin) - std::max(begin, left)) / bin;
        }
    }
    return fractions;
}

std::string left_out_line(const TextTable& table, const TextStyle& style) {
    std::vector<std::string> left_out;
    for (std::string& header : table.left_out(style))
        if (!std::ranges::count(left_out, header)) left_out.push_back(std::move(header));
    if (left_out.empty()) return "";
    return fmt::format("Left out for the terminal's width of {}: {}.\n", style.width,
                       fmt::join(left_out, ", "));
}

}  // namespace systole
