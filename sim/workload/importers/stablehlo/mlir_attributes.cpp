// SPDX-License-Identifier: Apache-2.0
// Types, attributes and constants out of the text of MLIR.
#include <algorithm>
#include <charconv>

#include "sim/workload/importers/stablehlo/mlir_module.h"

namespace systole {
namespace {

using Kind = MlirToken::Kind;

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// All whole numbers of a text that holds nothing else but brackets and commas.
std::optional<std::vector<std::int64_t>> numbers_of(std::string_view text, std::size_t most) {
    std::vector<std::int64_t> found;
    constexpr std::string_view kBetween = "[](), \t\n\r";
    for (std::size_t at = 0; at < text.size();) {
        if (kBetween.find(text[at]) != std::string_view::npos) {
            ++at;
            continue;
        }
        const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
        const std::string_view word = text.substr(at, end - at);
        std::optional<std::int64_t> value = number(word);
        if (word == "true" || word == "false") value = word == "true" ? 1 : 0;
        if (!value || found.size() == most) return std::nullopt;
        found.push_back(*value);
        at = end;
    }
    return found;
}

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

/// "0x01000000FFFFFFFF" as 32-bit numbers: 1 and -1.
std::optional<std::vector<std::int64_t>> hexadecimal(std::string_view digits, int bits, std::size_t most) {
    const std::size_t width = static_cast<std::size_t>(bits) / 4;
    if (bits % 8 != 0 || bits < 8 || bits > 64 || digits.size() % width != 0 || digits.size() / width > most)
        return std::nullopt;
    std::vector<std::int64_t> found;
    for (std::size_t at = 0; at < digits.size(); at += width) {
        std::uint64_t value = 0;
        for (std::size_t byte = 0; byte < width / 2; ++byte) {
            const int high = digit(digits[at + 2 * byte]), low = digit(digits[at + 2 * byte + 1]);
            if (high < 0 || low < 0) return std::nullopt;
            value |= static_cast<std::uint64_t>(high * 16 + low) << (8 * byte);
        }
        if (bits < 64 && (value >> (bits - 1)) != 0) value |= ~std::uint64_t{0} << bits;
        found.push_back(static_cast<std::int64_t>(value));
    }
    return found;
}

constexpr std::size_t kMostNumbers = 4096;  // of an attribute

/// Of "[1, 2]" or "[[1, 2], [3, 4]]", the bracket standing at `at`; moves behind it.
std::optional<std::vector<std::int64_t>> bracketed(const MlirTokens& tokens, std::size_t& at,
                                                   std::size_t end) {
    std::vector<std::int64_t> found;
    std::size_t depth = 0;
    do {
        const MlirToken& token = tokens[at];
        if (token.is("[")) {
            ++depth;
        } else if (token.is("]")) {
            --depth;
        } else if (!token.is(",")) {
            const auto value = number(token.text);
            if (!value || found.size() == kMostNumbers) return std::nullopt;
            found.push_back(*value);
        }
        ++at;
    } while (depth != 0 && at < end);
    return found;
}

}  // namespace

MlirType mlir_type(std::string_view text) {
    MlirType type;
    if (!text.starts_with("tensor<") || !text.ends_with(">")) {
        type.element = text;
        return type;
    }
    std::string_view rest = text.substr(7, text.size() - 8);
    while (true) {
        const std::size_t cross = rest.find('x');
        if (cross == std::string_view::npos) break;
        const std::string_view extent = rest.substr(0, cross);
        const auto value = number(extent);
        if (extent != "?" && (!value || *value < 0)) break;
        type.shape.push_back(extent == "?" ? -1 : *value);
        rest.remove_prefix(cross + 1);
    }
    // An encoding may follow: tensor<?x4xf32, #stablehlo.bounds<4, ?>>.
    const std::size_t comma = rest.starts_with("!") ? std::string_view::npos : rest.find(',');
    type.element = rest.substr(0, comma);
    type.tensor = true;
    return type;
}

std::optional<std::size_t> mlir_key(const MlirTokens& tokens, const MlirOperation& operation,
                                    std::string_view key) {
    auto inner = operation.inner.begin();
    for (std::size_t at = operation.begin; at + 2 < operation.end; ++at) {
        if (inner != operation.inner.end() && at == inner->first) {
            at = inner->second - 1;
            ++inner;
            continue;
        }
        if (tokens[at].is_word(key) && tokens[at + 1].is("=")) return at + 2;
    }
    return std::nullopt;
}

std::optional<std::vector<std::vector<std::int64_t>>> mlir_numbers(const MlirTokens& tokens,
                                                                   const MlirOperation& operation,
                                                                   std::string_view key) {
    using Lists = std::vector<std::vector<std::int64_t>>;
    const auto place = mlir_key(tokens, operation, key);
    if (!place) return std::nullopt;
    std::size_t at = *place;
    const MlirToken& token = tokens[at];
    if (token.kind == Kind::Constant) {
        auto values = mlir_constant(token.text, 64, kMostNumbers);
        if (!values) return std::nullopt;
        return Lists{*std::move(values)};
    }
    if (token.is_word("array")) {  // array<i64: 0, 2>, array<i64>
        std::vector<std::int64_t> values;
        for (at += 2; at < operation.end && !tokens[at].is(">"); ++at)
            if (const auto value = number(tokens[at].text)) values.push_back(*value);
        return Lists{std::move(values)};
    }
    if (!token.is("[")) {
        const auto value = number(token.text);
        if (!value) return std::nullopt;
        return Lists{{*value}};
    }
    Lists lists;
    while (true) {
        auto list = bracketed(tokens, at, operation.end);
        if (!list) return std::nullopt;
        lists.push_back(*std::move(list));
        if (at + 1 >= operation.end || !tokens[at].is_word("x") || !tokens[at + 1].is("[")) return lists;
        ++at;
    }
}

std::optional<std::vector<std::int64_t>> mlir_constant(std::string_view text, int bits, std::size_t most) {
    constexpr std::string_view kDense = "dense<";
    if (!text.starts_with(kDense)) return std::nullopt;
    std::string_view inside = text.substr(kDense.size(), text.size() - kDense.size() - 1);
    if (inside.starts_with("\"0x") && inside.ends_with("\""))
        return hexadecimal(inside.substr(3, inside.size() - 4), bits, most);
    return numbers_of(inside, most);
}

}  // namespace systole
