// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/topology_cells.h"

#include <algorithm>
#include <charconv>

namespace systole {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t";
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::int64_t> whole_numbers(std::string_view cell) {
    std::vector<std::int64_t> numbers;
    for (std::string_view rest = cell; !rest.empty();) {
        const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
        const auto number = whole_number(rest.substr(0, end));
        if (!number) return {};
        numbers.push_back(*number);
        rest = trimmed(rest.substr(end));
    }
    return numbers;
}

}  // namespace systole
