// SPDX-License-Identifier: Apache-2.0
// The typed getters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "sim/base/check.h"
#include "sim/config/config.h"
#include "sim/config/leaf_text.h"
#include "sim/config/quantity.h"

namespace systole::config {
namespace {

/// What is wrong with an entry's range, or "". The ends are values like the leaf's own; of a quantity, the
/// lower may leave its unit to the upper ("20..80 ns").
template <class T, class Parse>
std::string check_range(const Entry& entry, const T& value, Parse parse) {
    const std::string& range = entry.range;
    if (range.empty()) return "";
    const std::size_t dots = range.find("..");
    if (dots == std::string::npos) return fmt::format("range '{}' is not of the form 'low..high'", range);
    std::string low_text = range.substr(0, dots);
    const std::string high_text = range.substr(dots + 2);
    auto low = parse(low_text);
    if (!low.value) {
        low_text += high_text.substr(std::min(high_text.find_first_not_of("-0123456789."), high_text.size()));
        low = parse(low_text);
    }
    const auto high = parse(high_text);
    if (!low.value) return fmt::format("range '{}': {}", range, low.problem);
    if (!high.value) return fmt::format("range '{}': {}", range, high.problem);
    if (value < *low.value || *high.value < value)
        return fmt::format("'{}' lies outside its own range '{}'", entry.value, range);
    return "";
}

template <class Strong>
std::optional<std::int64_t> plain(const std::optional<Strong>& value) {
    return value ? std::optional(value->value()) : std::nullopt;
}

/// What is asked of a whole number: its limits in words, "1..4096", "1 B or more".
template <class Write>
Question within(ValueKind kind, std::string_view meaning, const Limits& limits, Write write) {
    Question asked{kind, meaning};
    const bool endless = limits.high == std::numeric_limits<std::int64_t>::max();
    asked.low = write(limits.low);
    asked.high = endless ? "" : write(limits.high);
    asked.limits = endless ? asked.low + " or more" : fmt::format("{}..{}", asked.low, asked.high);
    return asked;
}

/// The position of `text` in `names`; an unknown name is a problem that lists them.
Parsed<std::size_t> parse_choice(std::string_view text, const std::vector<std::string>& names) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found != names.end()) return {static_cast<std::size_t>(found - names.begin()), ""};
    return {std::nullopt,
            fmt::format("'{}' is not one of {}{}", text, fmt::join(names, ", "), did_you_mean(text, names))};
}

Parsed<bool> parse_flag(std::string_view text) {
    if (text == "on" || text == "true" || text == "yes") return {true, ""};
    if (text == "off" || text == "false" || text == "no") return {false, ""};
    return {std::nullopt, fmt::format("'{}' is not 'on' or 'off'", text)};
}

}  // namespace

std::string Section::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

template <class T, class Parse, class Write>
T Section::read(std::string_view key, Question asked, const std::optional<T>& fallback, T lowest, Parse parse,
                Write write) {
    asked.path = path_of(key);
    if (fallback) asked.fallback = write(*fallback);
    if (config_->survey_ != nullptr) config_->survey_->add(asked);
    Config::Leaf* const leaf = config_->consume(asked.path, asked.meaning, fallback.has_value());
    if (leaf != nullptr) leaf->entry.limits = asked.limits;
    T instead = fallback.value_or(lowest);
    if (leaf == nullptr) {
        if (fallback) config_->add_default(asked, {});
        return instead;
    }
    if (leaf->is_broken) return instead;
    if (leaf->is_list) {
        fail(key, fmt::format("expected one value, found the list {}", leaf->entry.value));
        return instead;
    }
    const Parsed<T> parsed = parse(leaf->entry.value);
    if (!parsed.value) {
        fail(key, parsed.problem);
        return instead;
    }
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>)
        if (const std::string why = check_range(leaf->entry, *parsed.value, parse); !why.empty())
            fail(key, why);
    return *parsed.value;
}

std::int64_t Section::count(std::string_view key, std::string_view meaning, Limits limits,
                            std::optional<std::int64_t> fallback) {
    const auto write = [](std::int64_t value) { return std::to_string(value); };
    return read<std::int64_t>(
        key, within(ValueKind::Count, meaning, limits, write), fallback, limits.low,
        [&](std::string_view text) { return parse_integer(text, limits.low, limits.high); }, write);
}

std::int64_t Section::quantity(std::string_view key, std::string_view meaning, Dimension kind, Limits limits,
                               std::optional<std::int64_t> fallback) {
    const auto parse = [=](std::string_view text) {
        return parse_quantity(text, kind, limits.low, limits.high);
    };
    const auto write = [=](std::int64_t value) { return format_quantity(value, kind); };
    Question asked = within(ValueKind::Quantity, meaning, limits, write);
    asked.dimension = kind;
    return read<std::int64_t>(key, std::move(asked), fallback, limits.low, parse, write);
}

// A clock has at most one edge a tick.
Hertz Section::clock(std::string_view key, std::string_view meaning, std::optional<Hertz> fallback,
                     Hertz fastest) {
    constexpr Hertz kSlowest(1'000'000);
    return Hertz(
        quantity(key, meaning, Dimension::Frequency, {kSlowest.value(), fastest.value()}, plain(fallback)));
}

Bytes Section::bytes(std::string_view key, std::string_view meaning, Limits limits,
                     std::optional<Bytes> fallback) {
    return Bytes(quantity(key, meaning, Dimension::Size, limits, plain(fallback)));
}

BytesPerSecond Section::bandwidth(std::string_view key, std::string_view meaning,
                                  std::optional<BytesPerSecond> fallback) {
    const Limits limits{1, BytesPerSecond::max().value()};
    return BytesPerSecond(quantity(key, meaning, Dimension::Bandwidth, limits, plain(fallback)));
}

Ticks Section::time(std::string_view key, std::string_view meaning, std::optional<Ticks> fallback) {
    return Ticks(quantity(key, meaning, Dimension::Time, {0, Ticks::max().value()}, plain(fallback)));
}

Femtojoules Section::energy(std::string_view key, std::string_view meaning,
                            std::optional<Femtojoules> fallback) {
    constexpr std::int64_t kMost = 999'999'999'999;  // what one event takes; sums have room for many
    return Femtojoules(quantity(key, meaning, Dimension::Energy, {0, kMost}, plain(fallback)));
}

Milliwatts Section::power(std::string_view key, std::string_view meaning,
                          std::optional<Milliwatts> fallback) {
    return Milliwatts(quantity(key, meaning, Dimension::Power, {0, 999'999'999}, plain(fallback)));
}

double Section::usd(std::string_view key, std::string_view meaning) {
    return static_cast<double>(quantity(key, meaning, Dimension::Price, {1, 1'000'000'000'000'000}, {})) /
           1e6;
}

double Section::usd_per_hour(std::string_view key, std::string_view meaning) {
    return static_cast<double>(quantity(key, meaning, Dimension::PricePerHour, {1, 1'000'000'000'000}, {})) /
           1e6;
}

double Section::usd_per_kwh(std::string_view key, std::string_view meaning) {
    return static_cast<double>(quantity(key, meaning, Dimension::PricePerEnergy, {1, 1'000'000'000}, {})) /
           1e6;
}

double Section::years(std::string_view key, std::string_view meaning) {
    return static_cast<double>(quantity(key, meaning, Dimension::Years, {1, 100'000}, {})) / 1e3;
}

double Section::number(std::string_view key, std::string_view meaning, double low, double high,
                       std::optional<double> fallback) {
    SYSTOLE_CHECK(!fallback || std::isfinite(*fallback), "the default of {}", path_of(key));
    Question asked{ValueKind::Number, meaning};
    asked.low = format_number(low);
    asked.high = format_number(high);
    asked.limits = fmt::format("{}..{}", asked.low, asked.high);
    return read<double>(
        key, std::move(asked), fallback, low,
        [&](std::string_view text) { return parse_number(text, low, high); }, format_number);
}

bool Section::flag(std::string_view key, std::string_view meaning, std::optional<bool> fallback) {
    Question asked{ValueKind::Flag, meaning};
    asked.names = {"on", "off"};
    asked.limits = "on, off";
    return read<bool>(key, std::move(asked), fallback, false, parse_flag,
                      [](bool value) { return std::string(value ? "on" : "off"); });
}

std::string Section::text(std::string_view key, std::string_view meaning,
                          const std::optional<std::string>& fallback) {
    return read<std::string>(
        key, Question{ValueKind::Text, meaning}, fallback, "",
        [](const std::string& text) {
            return Parsed<std::string>{text, ""};
        },
        [](const std::string& text) { return text; });
}

std::size_t Section::choice(std::string_view key, std::string_view meaning,
                            const std::vector<std::string>& names, std::optional<std::size_t> fallback) {
    Question asked{ValueKind::Choice, meaning};
    asked.names = names;
    asked.limits = fmt::format("{}", fmt::join(names, ", "));
    return read<std::size_t>(
        key, std::move(asked), fallback, 0, [&](std::string_view text) { return parse_choice(text, names); },
        [&](std::size_t index) { return names.at(index); });
}

std::vector<std::string> Section::list(std::string_view key, std::string_view meaning,
                                       std::optional<std::vector<std::string>> fallback) {
    Question asked{ValueKind::List, meaning};
    asked.path = path_of(key);
    if (fallback) asked.fallback = list_text(*fallback);
    if (config_->survey_ != nullptr) config_->survey_->add(asked);
    Config::Leaf* const leaf = config_->consume(asked.path, meaning, fallback.has_value());
    if (leaf == nullptr) {
        if (!fallback) return {};
        Config::Leaf written;
        written.is_list = true;
        written.items = *fallback;
        config_->add_default(asked, std::move(written));
        return *fallback;
    }
    if (!leaf->is_list && leaf->entry.origin == Origin::CommandLine) {
        leaf->is_list = true;
        leaf->items = split_list(leaf->entry.value);
        leaf->entry.value = list_text(leaf->items);
    }
    if (!leaf->is_list && !leaf->is_broken)
        fail(key, fmt::format("expected a list such as [a, b], found '{}'", leaf->entry.value));
    return leaf->items;
}

std::vector<std::string> Section::keys() const {
    const auto [first, last] = config_->below(path_);
    std::vector<std::pair<std::size_t, std::string>> found;
    const std::size_t skip = path_.empty() ? 0 : path_.size() + 1;
    for (auto leaf = first; leaf != last; ++leaf) {
        const std::string key = leaf->first.substr(skip, leaf->first.find('.', skip) - skip);
        if (found.empty() || found.back().second != key)
            found.emplace_back(leaf->second.order, key);
        else
            found.back().first = std::min(found.back().first, leaf->second.order);
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> keys;
    for (auto& [order, key] : found) keys.push_back(std::move(key));
    // A table's keys are whatever files give; so the reader shows what it asks of each.
    if (config_->survey_ != nullptr) keys.emplace_back(Survey::kAnyKey);
    return keys;
}

bool Section::has(std::string_view key) const {
    const std::string path = path_of(key);
    const auto [first, last] = config_->below(path);
    const bool given = first != last || config_->leaves_.find(path) != config_->leaves_.end() ||
                       config_->maps_.contains(path);
    return config_->survey_ == nullptr ? given : config_->survey_->look(path, given);
}

bool Section::is_set(std::string_view key) const {
    const auto leaf = config_->leaves_.find(path_of(key));
    return leaf != config_->leaves_.end() && leaf->second.entry.origin == Origin::CommandLine;
}

bool Section::is_nearer(std::string_view key, std::string_view other) const {
    const auto one = config_->leaves_.find(path_of(key)), two = config_->leaves_.find(path_of(other));
    return one != config_->leaves_.end() && two != config_->leaves_.end() &&
           one->second.depth < two->second.depth;
}

Section Section::section(std::string_view key) const {
    return Section(*config_, path_of(key));
}

void Section::fail(std::string_view key, std::string message) {
    const std::string path = path_of(key);
    if (!config_->failed_.insert(path).second) return;  // what is wrong already may well be out of range, too
    config_->complain(config_->where(path), path.empty() ? message : fmt::format("{}: {}", path, message));
}

void Section::refuse(std::string_view key, std::string message) {
    if (const auto leaf = config_->leaves_.find(path_of(key)); leaf != config_->leaves_.end())
        leaf->second.was_read = true;
    fail(key, std::move(message));
}

}  // namespace systole::config
