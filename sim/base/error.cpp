// SPDX-License-Identifier: Apache-2.0
#include "sim/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/utf8.h"

namespace systole {
namespace {

std::string join_lines(const std::vector<Diagnostic>& diagnostics) {
    // One mistake can bring many with it (a trace given as a device, say): the first ones are what to look
    // at.
    constexpr std::size_t kMost = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(kMost, diagnostics.size()); ++i) {
        if (!text.empty()) text += '\n';
        text += to_string(diagnostics[i]);
    }
    if (diagnostics.size() > kMost)
        text += fmt::format("\nsystole: error: and {} more mistakes like these", diagnostics.size() - kMost);
    return text;
}

/// Edits (insert, delete, replace, swap two neighbours) that turn `a` into `b`: optimal string alignment.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
    const SourceMark& at = diagnostic.where;
    const std::string file = printable(at.file), message = printable(diagnostic.message);
    if (file.empty()) return fmt::format("systole: error: {}", message);
    if (at.line == 0) return fmt::format("{}: error: {}", file, message);
    return fmt::format("{}:{}:{}: error: {}", file, at.line, at.column, message);
}

UserError::UserError(std::vector<Diagnostic> diagnostics)
    : diagnostics_(std::move(diagnostics)), text_(join_lines(diagnostics_)) {}

UserError::UserError(std::string message) : UserError(SourceMark{}, std::move(message)) {}

UserError::UserError(SourceMark where, std::string message)
    : UserError(std::vector<Diagnostic>{{std::move(where), std::move(message)}}) {}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    // Hostile input may be megabytes long; no candidate is near such a word.
    if (word.empty() || word.size() > 64) return "";
    const std::string* best = nullptr;
    std::size_t best_distance = 1 + std::max<std::size_t>(1, word.size() / 3);
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best = &candidate;
            best_distance = distance;
        }
    }
    return best ? fmt::format(" (did you mean '{}'?)", *best) : "";
}

std::string excerpt(std::string_view text) {
    std::size_t end = 60;
    if (text.size() <= end) return std::string(text);
    while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
    return std::string(text.substr(0, end)) + "…";
}

}  // namespace systole
