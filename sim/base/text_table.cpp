// SPDX-License-Identifier: Apache-2.0
#include "sim/base/text_table.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "sim/base/check.h"

namespace systole {
namespace {

constexpr std::size_t kGap = 2;  // blanks between columns

/// Cells may hold UTF-8: what is aligned are characters, not bytes.
std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
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

void TextTable::column(std::string header, Align align, std::size_t most) {
    columns_.push_back({std::move(header), align, most, kAlways});
}

void TextTable::dispensable(int rank) {
    columns_.back().rank = rank;
}

void TextTable::row(std::vector<std::string> cells) {
    SYSTOLE_CHECK(cells.size() == columns_.size(), "{} cells in {} columns", cells.size(), columns_.size());
    std::vector<std::vector<std::string>> columns;
    std::size_t height = 1;
    for (std::size_t c = 0; c < cells.size(); ++c) {
        columns.push_back(broken(cells[c], columns_[c].most));
        height = std::max(height, columns.back().size());
    }
    last_row_ = lines_.size();
    for (std::size_t line = 0; line < height; ++line) {
        Line& part = lines_.emplace_back(Line{{}, std::vector<Ink>(columns.size())});
        for (const auto& column : columns) part.cells.push_back(line < column.size() ? column[line] : "");
    }
}

void TextTable::ink(std::size_t column, Ink ink) {
    for (std::size_t l = last_row_; l < lines_.size(); ++l) lines_[l].inks.at(column) = ink;
}

void TextTable::ink(Ink ink) {
    for (std::size_t l = last_row_; l < lines_.size(); ++l)
        std::replace(lines_[l].inks.begin(), lines_[l].inks.end(), kPlain, ink);
}

void TextTable::rule() {
    lines_.emplace_back();
}

std::vector<std::size_t> TextTable::widths() const {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        std::size_t width = display_width(columns_[c].header);
        for (const Line& line : lines_)
            if (!line.cells.empty()) width = std::max(width, display_width(line.cells[c]));
        widths.push_back(width);
    }
    return widths;
}

std::vector<std::size_t> TextTable::shown(const std::vector<std::size_t>& widths,
                                          const TextStyle& style) const {
    std::vector<std::size_t> shown(columns_.size());
    std::iota(shown.begin(), shown.end(), std::size_t{0});
    const auto total = [&] {
        std::size_t sum = 0;
        for (const std::size_t c : shown) sum += widths[c] + kGap;
        return sum - std::min(sum, kGap);
    };
    while (total() > style.width) {
        const auto least = std::max_element(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
            return columns_[a].rank < columns_[b].rank;
        });
        if (columns_[*least].rank == kAlways) break;
        shown.erase(least);
    }
    return shown;
}

std::vector<std::string> TextTable::left_out(const TextStyle& style) const {
    const std::vector<std::size_t> kept = shown(widths(), style);
    std::vector<std::string> headers;
    for (std::size_t c = 0; c < columns_.size(); ++c)
        if (!std::binary_search(kept.begin(), kept.end(), c)) headers.push_back(columns_[c].header);
    return headers;
}

std::string TextTable::str(const TextStyle& style) const {
    const std::vector<std::size_t> widths = this->widths(), kept = shown(widths, style);
    std::string text;
    const auto line = [&](auto&& cell_of, auto&& ink_of) {
        std::string row;
        std::size_t blanks = 0;  // not yet written: none follow the last cell of a line
        for (const std::size_t c : kept) {
            const std::string& cell = cell_of(c);
            const std::size_t space = widths[c] - display_width(cell);
            const bool right = columns_[c].align == Align::Right;
            blanks += right ? space : 0;
            if (!cell.empty()) {
                row += std::string(blanks, ' ') + painted(cell, ink_of(c), style);
                blanks = 0;
            }
            blanks += (right ? 0 : space) + kGap;
        }
        text += row + '\n';
    };
    const auto rule = [&] {
        line([&](std::size_t c) { return std::string(widths[c], '-'); }, [](std::size_t) { return kFaint; });
    };
    line([&](std::size_t c) { return columns_[c].header; }, [](std::size_t) { return kStrong; });
    rule();
    for (const Line& each : lines_) {
        if (each.cells.empty())
            rule();
        else
            line([&](std::size_t c) { return each.cells[c]; }, [&](std::size_t c) { return each.inks[c]; });
    }
    return text;
}

}  // namespace systole
