// SPDX-License-Identifier: Apache-2.0
#include "sim/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/base/check.h"

namespace systole {
namespace {

/// Cells may hold UTF-8: what is aligned are characters, not bytes.
std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

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

std::string pad(const std::string& text, std::size_t width, TextTable::Align align) {
    const std::string space(width - std::min(width, display_width(text)), ' ');
    return align == TextTable::Align::Left ? text + space : space + text;
}

/// `text` in lines of at most `most`, broken at blanks; a longer word has a line of its own.
std::vector<std::string> broken(const std::string& text, std::size_t most) {
    std::vector<std::string> lines{""};
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t blank = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, blank - begin);
        std::string& line = lines.back();
        if (begin == 0)
            line = word;
        else if (most != std::string::npos && display_width(line) + 1 + display_width(word) > most)
            lines.push_back(word);
        else
            line += ' ' + word;
        begin = blank + 1;
    }
    return lines;
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

void TextTable::column(std::string header, Align align, std::size_t most) {
    columns_.push_back({std::move(header), align, most});
}

void TextTable::row(std::vector<std::string> cells) {
    SYSTOLE_CHECK(cells.size() == columns_.size(), "{} cells in {} columns", cells.size(), columns_.size());
    std::vector<std::vector<std::string>> columns;
    std::size_t height = 1;
    for (std::size_t c = 0; c < cells.size(); ++c) {
        columns.push_back(broken(cells[c], columns_[c].most));
        height = std::max(height, columns.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
        std::vector<std::string>& part = rows_.emplace_back();
        for (const auto& column : columns) part.push_back(line < column.size() ? column[line] : "");
    }
}

void TextTable::rule() {
    rows_.emplace_back();
}

std::string TextTable::str() const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        std::size_t width = display_width(columns_[c].header);
        for (const auto& cells : rows_)
            if (!cells.empty()) width = std::max(width, display_width(cells[c]));
        widths.push_back(width);
    }
    std::string text;
    const auto line = [&](auto&& cell_of) {
        std::string row_text;
        for (std::size_t c = 0; c < columns_.size(); ++c)
            row_text += (c ? "  " : "") + pad(cell_of(c), widths[c], columns_[c].align);
        row_text.erase(row_text.find_last_not_of(' ') + 1);
        text += row_text + '\n';
    };
    const auto dashes = [&](std::size_t c) { return std::string(widths[c], '-'); };
    line([&](std::size_t c) { return columns_[c].header; });
    line(dashes);
    for (const auto& cells : rows_) {
        if (cells.empty())
            line(dashes);
        else
            line([&](std::size_t c) { return cells[c]; });
    }
    return text;
}

}  // namespace systole
