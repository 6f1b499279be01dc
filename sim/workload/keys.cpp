// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace systole {
namespace {

using config::YamlNode;

constexpr std::size_t kMaxRank = 8;

}  // namespace

Keys::Keys(const YamlNode& map, const Parameters& parameters, Mistakes& mistakes, std::string subject)
    : map_(&map), parameters_(&parameters), mistakes_(&mistakes), subject_(std::move(subject)) {}

std::string Keys::quoted(std::string_view key) const {
    return fmt::format("{}: '{}'", subject_, key);
}

/// Of a key without a default; one that is only looked for may be missing.
void Keys::tell(std::string_view key, KeyKind kind, std::int64_t low) {
    if (survey_ != nullptr) survey_->add({std::string(key), kind, low, {}, {}, !survey_->assumes(key)});
}

const YamlNode* Keys::optional(std::string_view key) {
    if (survey_ != nullptr) survey_->add({std::string(key)});
    if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
    return map_->find(key);
}

const YamlNode* Keys::required(std::string_view key, std::string_view meaning) {
    tell(key, KeyKind::Other);
    const YamlNode* node = optional(key);
    if (!node) mistakes_->add(map_->where, fmt::format("{} is missing: expected {}", quoted(key), meaning));
    return node;
}

const YamlNode* Keys::required_scalar(std::string_view key, std::string_view meaning) {
    const YamlNode* node = required(key, meaning);
    if (!node || node->kind == YamlNode::Kind::Scalar) return node;
    mistakes_->add(node->where,
                   fmt::format("{} must be {}, not {}", quoted(key), meaning, config::to_string(node->kind)));
    return nullptr;
}

std::int64_t Keys::integer(std::string_view key, std::int64_t low, std::optional<std::int64_t> fallback) {
    if (survey_ != nullptr && fallback)
        survey_->add({std::string(key), KeyKind::Integer, low, {}, std::to_string(*fallback)});
    else
        tell(key, KeyKind::Integer, low);
    const YamlNode* node = fallback ? optional(key) : required(key, "an integer");
    if (!node) return fallback.value_or(low);
    return parameters_->integer(*node, quoted(key), low, *mistakes_).value_or(fallback.value_or(low));
}

std::optional<std::int64_t> Keys::integer_if_given(std::string_view key, std::int64_t low) {
    if (has(key)) return integer(key, low);
    optional(key);  // known all the same
    return std::nullopt;
}

std::vector<std::int64_t> Keys::sizes(std::string_view key, std::string_view names, std::size_t count,
                                      std::int64_t low) {
    std::vector<std::int64_t> lowest(count, low);
    const YamlNode* node = required(key, fmt::format("n or {}", names));
    if (!node) return lowest;
    if (node->kind != YamlNode::Kind::Sequence)
        return std::vector<std::int64_t>(
            count, parameters_->integer(*node, quoted(key), low, *mistakes_).value_or(low));
    std::vector<std::int64_t> values = integers(key, low);
    if (values.size() == count) return values;
    fail(fmt::format("'{}' must be n or {}, not {} numbers", key, names, values.size()), key);
    return lowest;
}

std::array<std::int64_t, 2> Keys::pair(std::string_view key) {
    tell(key, KeyKind::Pair, 1);
    const std::vector<std::int64_t> two = sizes(key, "[h, w]", 2);
    return {two[0], two[1]};
}

std::array<std::int64_t, 4> Keys::sides(std::string_view key) {
    if (survey_ != nullptr) survey_->add({std::string(key), KeyKind::Sides, 0, {}, "0"});
    if (!optional(key)) return {0, 0, 0, 0};
    const std::vector<std::int64_t> four = sizes(key, "[top, left, bottom, right]", 4, 0);
    return {four[0], four[1], four[2], four[3]};
}

std::array<std::int64_t, 3> Keys::triple(std::string_view key) {
    tell(key, KeyKind::Triple, 1);
    const std::vector<std::int64_t> three = sizes(key, "[d, h, w]", 3);
    return {three[0], three[1], three[2]};
}

std::vector<std::int64_t> Keys::integers(std::string_view key, std::int64_t low) {
    tell(key, KeyKind::Integers, low);
    const YamlNode* node = required(key, "a list of integers");
    if (!node) return {low};
    if (node->kind != YamlNode::Kind::Sequence || node->items.empty() || node->items.size() > kMaxRank) {
        const std::string found = node->kind == YamlNode::Kind::Sequence
                                      ? fmt::format("{} items", node->items.size())
                                      : std::string(config::to_string(node->kind));
        fail(fmt::format("'{}' must be a list of 1 … {} integers, not {}", key, kMaxRank, found), key);
        return {low};
    }
    std::vector<std::int64_t> values;
    for (const YamlNode& item : node->items)
        values.push_back(parameters_->integer(item, quoted(key), low, *mistakes_).value_or(low));
    return values;
}

bool Keys::flag(std::string_view key, bool fallback) {
    if (survey_ != nullptr)
        survey_->add({std::string(key), KeyKind::Flag, 0, {"true", "false"}, fallback ? "true" : "false"});
    const YamlNode* node = optional(key);
    if (!node) return fallback;
    if (node->kind == YamlNode::Kind::Scalar && node->scalar == "true") return true;
    if (node->kind == YamlNode::Kind::Scalar && node->scalar == "false") return false;
    fail(fmt::format("'{}' must be true or false", key), key);
    return fallback;
}

std::size_t Keys::choice(std::string_view key, const std::vector<std::string>& names,
                         std::optional<std::size_t> fallback) {
    if (survey_ != nullptr)
        survey_->add({std::string(key), KeyKind::Choice, 0, names,
                      fallback ? std::optional(names.at(*fallback)) : std::nullopt, !fallback});
    const std::string meaning = fmt::format("one of: {}", fmt::join(names, ", "));
    if (fallback && !optional(key)) return *fallback;
    const YamlNode* node = required_scalar(key, meaning);
    if (!node) return fallback.value_or(0);
    const auto found = std::ranges::find(names, node->scalar);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    fail(fmt::format("'{}' must be {}, not '{}'{}", key, meaning, excerpt(node->scalar),
                     did_you_mean(node->scalar, names)),
         key);
    return fallback.value_or(0);
}

std::optional<DType> Keys::dtype(std::string_view key) {
    if (survey_ != nullptr) survey_->add({std::string(key), KeyKind::DType});
    const YamlNode* node = optional(key);
    if (!node) return std::nullopt;
    return parameters_->dtype(*node, quoted(key), *mistakes_);
}

std::string Keys::text(std::string_view key, std::string_view meaning) {
    tell(key, KeyKind::Text);
    const YamlNode* node = required_scalar(key, meaning);
    return node ? node->scalar : "";
}

std::string Keys::name(std::string_view key) {
    tell(key, KeyKind::Name);
    const YamlNode* node = required_scalar(key, "a name");
    if (!node) return "";
    if (is_name(node->scalar)) return node->scalar;
    fail(fmt::format("'{}' must be a name of up to 100 letters, digits and '_', not '{}'", key,
                     excerpt(node->scalar)),
         key);
    return "";
}

void Keys::finish() {
    for (const config::YamlEntry& entry : map_->entries) {
        if (std::ranges::find(known_, entry.key) != known_.end()) continue;
        mistakes_->add(entry.where,
                       fmt::format("{}: unknown key '{}'{}; it has: {}", subject_, excerpt(entry.key),
                                   did_you_mean(entry.key, known_), fmt::join(known_, ", ")));
    }
}

void Keys::fail(std::string_view message, std::string_view key) {
    const YamlNode* node = key.empty() ? nullptr : map_->find(key);
    mistakes_->add(node ? node->where : map_->where, fmt::format("{}: {}", subject_, message));
}

}  // namespace systole
