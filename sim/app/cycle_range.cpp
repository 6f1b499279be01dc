// SPDX-License-Identifier: Apache-2.0
#include "sim/app/cycle_range.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace systole::app {

CycleRange read_cycle_range(const Arguments& arguments, const char* option) {
    const auto text = arguments.option(option);
    if (!text) return {};
    const auto malformed = [&] {
        arguments.misused(
            fmt::format("--{} takes FROM:TO, such as 100:200, 100: or :200, not '{}'", option, *text));
    };
    const auto read = [&](std::string_view digits) -> std::optional<std::int64_t> {
        if (digits.empty()) return std::nullopt;
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error != std::errc() || end != digits.data() + digits.size() || number < 0) malformed();
        return number;
    };
    const std::size_t colon = text->find(':');
    if (colon == std::string::npos) malformed();
    const CycleRange range{read(std::string_view(*text).substr(0, colon)),
                           read(std::string_view(*text).substr(colon + 1))};
    if (range.from && range.to && *range.from >= *range.to)
        arguments.misused(
            fmt::format("--{} {} is empty: TO is the first cycle that is not shown", option, *text));
    return range;
}

}  // namespace systole::app
