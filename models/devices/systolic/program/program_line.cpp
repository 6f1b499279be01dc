// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/program_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace systole::systolic {

std::optional<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
    return whole && text.front() != '-' ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> split_list(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

const std::vector<std::string>& operand_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < kOperands; ++i) all.emplace_back(to_string(static_cast<Operand>(i)));
        return all;
    }();
    return names;
}

ProgramLine::ProgramLine(std::string_view text, SourceMark where, std::vector<Diagnostic>& mistakes)
    : where_(std::move(where)), mistakes_(mistakes) {
    split(text);
}

void ProgramLine::split(std::string_view text) {
    std::size_t at = 0;
    while (true) {
        at = text.find_first_not_of(" \t\r", at);
        if (at == std::string_view::npos || text[at] == '#') return;
        Word word{"", "", static_cast<int>(at) + 1};
        bool in_quotes = false;
        std::string* part = &word.value;
        for (; at < text.size() && (in_quotes || (text[at] != ' ' && text[at] != '\t' && text[at] != '\r'));
             ++at) {
            if (in_quotes && text[at] == '\\' && at + 1 < text.size()) {
                *part += text[++at];
            } else if (text[at] == '"') {
                in_quotes = !in_quotes;
            } else if (text[at] == '=' && !in_quotes && word.key.empty()) {
                word.key = std::move(word.value);
                word.value.clear();
            } else {
                *part += text[at];
            }
        }
        if (in_quotes)
            mistakes_.push_back({{where_.file, where_.line, word.column}, "a quote is never closed"});
        if (kind_.empty())
            kind_ = word.key.empty() && !word.value.empty() ? word.value : word.key + '=' + word.value;
        else
            words_.push_back(std::move(word));
    }
}

ProgramLine::Word* ProgramLine::find(const char* key) {
    const auto word = std::find_if(words_.begin(), words_.end(), [&](const Word& w) { return w.key == key; });
    if (word == words_.end()) return nullptr;
    word->used = true;
    return &*word;
}

bool ProgramLine::has(const char* key) const {
    return std::any_of(words_.begin(), words_.end(), [&](const Word& w) { return w.key == key; });
}

void ProgramLine::fail(const char* key, const std::string& message) {
    const Word* word = find(key);
    mistakes_.push_back(
        {{where_.file, where_.line, word ? word->column : 1}, fmt::format("{}: {}", key, message)});
}

std::string ProgramLine::title() {
    if (!words_.empty() && words_.front().key.empty()) {
        words_.front().used = true;
        return words_.front().value;
    }
    mistakes_.push_back(
        {{where_.file, where_.line, 1}, fmt::format("expected a quoted name behind '{}'", kind_)});
    return "";
}

std::int64_t ProgramLine::integer(const char* key, std::int64_t low, std::int64_t high,
                                  std::optional<std::int64_t> fallback) {
    const Word* word = find(key);
    if (!word) {
        if (!fallback) fail(key, "missing, expected a whole number");
        return fallback.value_or(low);
    }
    const auto value = parse_integer(word->value);
    if (value && *value >= low && *value <= high) return *value;
    fail(key, fmt::format("'{}' is not a whole number from {} to {}", word->value, low, high));
    return low;
}

std::string ProgramLine::text(const char* key, const std::optional<std::string>& fallback) {
    const Word* word = find(key);
    if (word) return word->value;
    if (!fallback) fail(key, "missing");
    return fallback.value_or("");
}

std::size_t ProgramLine::choice(const char* key, const std::vector<std::string>& names) {
    const std::string value = text(key);
    const auto found = std::find(names.begin(), names.end(), value);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    if (has(key))
        fail(key, fmt::format("unknown '{}', expected one of: {}{}", value, fmt::join(names, ", "),
                              did_you_mean(value, names)));
    return 0;
}

void ProgramLine::finish() {
    for (const Word& word : words_)
        if (!word.used)
            mistakes_.push_back({{where_.file, where_.line, word.column},
                                 fmt::format("unexpected '{}'", word.key.empty() ? word.value : word.key)});
}

}  // namespace systole::systolic
