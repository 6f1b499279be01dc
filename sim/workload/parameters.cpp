// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/expression.h"
#include "sim/base/text.h"

namespace systole {
namespace {

using config::YamlEntry;
using config::YamlNode;

// Bounds on hostile input: an expression is evaluated once a turn, a name is compared with all parameters.
constexpr std::size_t kMaxExpression = 200;
constexpr std::size_t kMaxParameters = 1000;
constexpr std::size_t kMaxName = 100;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// "-3" as a number: expressions have no sign of their own, and "must be at least 1" says more than syntax.
bool is_negative_number(std::string_view text) {
    return text.size() > 1 && text.front() == '-' && std::ranges::all_of(text.substr(1), is_digit);
}

/// "1e3", "2.5": a number, but no whole one.
bool is_other_number(std::string_view text) {
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos) return false;
    const std::string_view rest = text.substr(digits + 1);
    return std::string_view(".eE").find(text[digits]) != std::string_view::npos && !rest.empty() &&
           std::ranges::all_of(rest, is_digit);
}

const TraceOverride* last_override(const std::vector<TraceOverride>& overrides, std::string_view name) {
    const TraceOverride* found = nullptr;
    for (const TraceOverride& candidate : overrides)
        if (candidate.name == name) found = &candidate;
    return found;
}

YamlNode scalar(const TraceOverride& override) {
    YamlNode node;
    node.kind = YamlNode::Kind::Scalar;
    node.where = override.where;
    node.scalar = override.value;
    return node;
}

}  // namespace

bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= kMaxName && is_letter(name.front()) &&
           std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
}

Parameters::Parameters(const YamlNode* params, const std::vector<TraceOverride>& overrides,
                       Mistakes& mistakes) {
    if (params && params->kind != YamlNode::Kind::Map) {
        mistakes.add(params->where, fmt::format("'params' must be a map of names and defaults, not {}",
                                                config::to_string(params->kind)));
        return;
    }
    if (params && params->entries.size() > kMaxParameters) {
        mistakes.add(params->where, fmt::format("more than {} parameters", kMaxParameters));
        return;
    }
    if (params)
        for (const YamlEntry& entry : params->entries)
            declare(entry, last_override(overrides, entry.key), mistakes);
    for (const TraceOverride& override : overrides) {
        if (params && params->find(override.name)) continue;
        const std::vector<std::string> known = names();
        mistakes.add(override.where,
                     fmt::format("the trace has no parameter '{}'{}; it has: {}", override.name,
                                 did_you_mean(override.name, known),
                                 known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
}

void Parameters::declare(const YamlEntry& entry, const TraceOverride* override, Mistakes& mistakes) {
    if (!is_name(entry.key) || parse_dtype(entry.key)) {
        mistakes.add(entry.where,
                     fmt::format("'{}' cannot name a parameter: expected letters, digits and '_', "
                                 "and no dtype's name",
                                 excerpt(entry.key)));
        return;
    }
    const bool is_dtype =
        entry.value.kind == YamlNode::Kind::Scalar && parse_dtype(entry.value.scalar).has_value();
    const YamlNode value = override ? scalar(*override) : entry.value;
    const std::string what = fmt::format("parameter '{}'", entry.key);
    if (is_dtype) {
        const DType format = dtypes_[entry.key] = dtype(value, what, mistakes).value_or(DType::Bf16);
        declared_.push_back({entry.key, std::string(to_string(format))});
    } else {
        const std::int64_t number = integers_[entry.key] = integer(value, what, 0, mistakes).value_or(1);
        declared_.push_back({entry.key, number});
    }
}

std::optional<std::int64_t> Parameters::integer(const YamlNode& node, std::string_view what, std::int64_t low,
                                                Mistakes& mistakes) const {
    const auto fail = [&](const std::string& reason) {
        mistakes.add(node.where, reason);
        return std::nullopt;
    };
    if (node.kind != YamlNode::Kind::Scalar)
        return fail(fmt::format("{} must be an integer, not {}", what, config::to_string(node.kind)));
    if (node.scalar.size() > kMaxExpression)
        return fail(fmt::format("{} is an expression of more than {} characters", what, kMaxExpression));
    try {
        const bool negative = is_negative_number(node.scalar);
        const std::int64_t value = evaluate(negative ? "0" + node.scalar : node.scalar, integers_);
        if (value >= low && value <= kMaxInteger) return value;
        return fail(fmt::format("{} must be {} … {}, not {}", what, low, with_thousands(kMaxInteger), value));
    } catch (const ExpressionError& error) {
        if (is_other_number(node.scalar))
            return fail(fmt::format("{}: '{}' is not a plain whole number", what, excerpt(node.scalar)));
        return fail(
            fmt::format("{} must be an integer, not '{}': {}", what, excerpt(node.scalar), error.what()));
    }
}

std::optional<DType> Parameters::dtype(const YamlNode& node, std::string_view what,
                                       Mistakes& mistakes) const {
    if (node.kind != YamlNode::Kind::Scalar) {
        mistakes.add(node.where,
                     fmt::format("{} must be a dtype, not {}", what, config::to_string(node.kind)));
        return std::nullopt;
    }
    const auto found = dtypes_.find(node.scalar);
    if (found != dtypes_.end()) return found->second;
    const std::optional<DType> named = parse_dtype(node.scalar);
    if (named) return named;
    std::vector<std::string> known = dtype_names();
    for (const auto& [name, value] : dtypes_) known.push_back(name);
    mistakes.add(node.where,
                 fmt::format("{} must be a dtype, not '{}'{}; expected one of: {}", what,
                             excerpt(node.scalar), did_you_mean(node.scalar, known), fmt::join(known, ", ")));
    return std::nullopt;
}

bool Parameters::has(const std::string& name) const {
    return integers_.contains(name) || dtypes_.contains(name);
}

std::vector<std::string> Parameters::names() const {
    std::vector<std::string> all;
    for (const auto& [name, value] : integers_) all.push_back(name);
    for (const auto& [name, value] : dtypes_) all.push_back(name);
    return all;
}

}  // namespace systole
