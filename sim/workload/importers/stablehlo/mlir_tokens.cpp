// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/mlir_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace systole {
namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Of names, numbers, and names of dialects.
bool in_word(char c) {
    return is_letter(c) || is_digit(c) || c == '.';
}

/// "1.0e" is followed by the sign of an exponent.
bool ends_in_exponent(std::string_view word) {
    return word.size() > 1 && (word.back() == 'e' || word.back() == 'E') &&
           (is_digit(word.front()) || word.front() == '-') && !word.starts_with("0x");
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

MlirTokens::MlirTokens(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
    lines_.push_back(0);
    for (std::size_t at = text_.find('\n'); at != std::string_view::npos; at = text_.find('\n', at + 1))
        lines_.push_back(at + 1);
    for (std::size_t at = 0; at < text_.size();) at = read(at);
}

SourceMark MlirTokens::mark(std::size_t at) const {
    return mark_at(at < tokens_.size() ? static_cast<std::size_t>(tokens_[at].text.data() - text_.data())
                                       : text_.size());
}

SourceMark MlirTokens::mark_at(std::size_t offset) const {
    const auto next = std::upper_bound(lines_.begin(), lines_.end(), offset);
    return {file_, static_cast<int>(next - lines_.begin()), static_cast<int>(offset - *(next - 1)) + 1};
}

void MlirTokens::add(MlirToken::Kind kind, std::size_t begin, std::size_t end) {
    tokens_.push_back({kind, text_.substr(begin, end - begin)});
}

std::size_t MlirTokens::end_of_string(std::size_t open) const {
    for (std::size_t at = open + 1; at < text_.size(); ++at) {
        if (text_[at] == '\\')
            ++at;
        else if (text_[at] == '"')
            return at + 1;
    }
    throw UserError(mark_at(open), "this string has no end");
}

std::size_t MlirTokens::end_of_brackets(std::size_t open) const {
    std::size_t depth = 0;
    for (std::size_t at = open; at < text_.size();) {
        const char c = text_[at];
        if (c == '"') {
            at = end_of_string(at);
            continue;
        }
        if (c == '<') ++depth;
        const bool arrow = c == '>' && text_[at - 1] == '-';
        if (c == '>' && !arrow && --depth == 0) return at + 1;
        ++at;
    }
    throw UserError(mark_at(open), "this '<' is never closed");
}

/// Behind the name that begins at `from`.
std::size_t MlirTokens::end_of_name(std::size_t from) const {
    while (from < text_.size() &&
           (in_word(text_[from]) || (text_[from] == '-' && text_.substr(from, 2) != "->")))
        ++from;
    return from;
}

/// "%0#1", "@main", "^bb0", "#loc", "!token"; answers where it ends.
std::size_t MlirTokens::read_name(std::size_t at, MlirToken::Kind kind) {
    const bool symbol = kind == MlirToken::Kind::Symbol;
    if (symbol && text_.substr(at + 1, 1) == "\"") {
        const std::size_t end = end_of_string(at + 1);
        add(kind, at + 2, end - 1);
        return end;
    }
    std::size_t end = end_of_name(at + 1);
    if (kind == MlirToken::Kind::Value && text_.substr(end, 1) == "#") end = end_of_name(end + 1);
    add(kind, symbol ? at + 1 : at, end);
    return end;
}

std::size_t MlirTokens::read_word(std::size_t at) {
    std::size_t end = at + 1;
    while (end < text_.size() && (in_word(text_[end]) || ((text_[end] == '+' || text_[end] == '-') &&
                                                          ends_in_exponent(text_.substr(at, end - at)))))
        ++end;
    const std::string_view word = text_.substr(at, end - at);
    MlirToken::Kind kind = MlirToken::Kind::Word;
    if (text_.substr(end, 1) == "<") {
        if (is_one_of(word, {"tensor", "vector", "tuple", "memref", "complex"})) kind = MlirToken::Kind::Type;
        if (is_one_of(word, {"dense", "sparse", "dense_resource"})) kind = MlirToken::Kind::Constant;
    }
    if (kind != MlirToken::Kind::Word) end = end_of_brackets(end);
    add(kind, at, end);
    return end;
}

/// The token at `at`, or what is no token; answers where it ends.
std::size_t MlirTokens::read(std::size_t at) {
    using Kind = MlirToken::Kind;
    const char c = text_[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return at + 1;
    if (text_.substr(at, 2) == "//") return std::min(text_.find('\n', at), text_.size());
    if (c == '"') {
        const std::size_t end = end_of_string(at);
        add(Kind::String, at + 1, end - 1);
        return end;
    }
    constexpr std::string_view kPrefixes = "%@^#!";
    constexpr std::array kKinds = {Kind::Value, Kind::Symbol, Kind::Block, Kind::Alias, Kind::Alias};
    if (const std::size_t prefix = kPrefixes.find(c); prefix != std::string_view::npos)
        return read_name(at, kKinds[prefix]);
    if (is_letter(c) || is_digit(c) || (c == '-' && at + 1 < text_.size() && in_word(text_[at + 1])))
        return read_word(at);
    constexpr std::string_view kMarks = "()[]{}<>,:=?*|/+-";
    if (kMarks.find(c) == std::string_view::npos)
        throw UserError(mark_at(at), fmt::format("byte 0x{:02x} begins nothing that MLIR's text may hold",
                                                 static_cast<unsigned char>(c)));
    const std::size_t end = at + (text_.substr(at, 2) == "->" ? 2 : 1);
    add(Kind::Mark, at, end);
    return end;
}

}  // namespace systole
