// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "sim/config/leaf_text.h"
#include "sim/config/quantity.h"

namespace systole::sweep {
namespace {

using config::YamlEntry;
using config::YamlNode;

constexpr std::int64_t kMostSamples = 100'000'000;
const std::vector<std::string> kKeys{"experiment", "device", "trace",      "set",    "axes",
                                     "derive",     "where",  "objectives", "sample", "limits"};

std::string scalar(const YamlNode& node, std::string_view what) {
    if (node.kind != YamlNode::Kind::Scalar || node.scalar.empty())
        throw UserError(node.where,
                        fmt::format("expected {}, not {}", what,
                                    node.kind == YamlNode::Kind::Scalar ? "an empty text"
                                                                        : config::to_string(node.kind)));
    if (node.scalar.find('\n') != std::string::npos)
        throw UserError(node.where, fmt::format("expected {}, on one line", what));
    return node.scalar;
}

const YamlNode& map(const YamlNode& node, std::string_view what) {
    if (node.kind != YamlNode::Kind::Map || node.entries.empty())
        throw UserError(
            node.where,
            fmt::format("expected {}, not {}", what,
                        node.kind == YamlNode::Kind::Map ? "an empty map" : config::to_string(node.kind)));
    return node;
}

/// A value, or a list of them that is not empty.
std::vector<YamlNode> one_or_more(const YamlNode& node, std::string_view what) {
    if (node.kind != YamlNode::Kind::Sequence) return {node};
    if (node.items.empty()) throw UserError(node.where, fmt::format("an empty list; expected {}", what));
    return node.items;
}

void refuse_unknown(const YamlNode& node, const std::vector<std::string>& known, std::string_view of) {
    std::vector<Diagnostic> mistakes;
    for (const YamlEntry& entry : node.entries)
        if (std::find(known.begin(), known.end(), entry.key) == known.end())
            mistakes.push_back({entry.where, fmt::format("{} has no key '{}'{}", of, entry.key,
                                                         did_you_mean(entry.key, known))});
    if (!mistakes.empty()) throw UserError(std::move(mistakes));
}

std::vector<Reference> references(const YamlNode& document, std::string_view key) {
    const YamlNode* node = document.find(key);
    if (!node)
        throw UserError(document.where,
                        fmt::format("an experiment needs '{}:', a name ('systole list {}s'), a "
                                    "file or a list of them",
                                    key, key));
    std::vector<Reference> all;
    for (const YamlNode& each : one_or_more(*node, fmt::format("a {} or more", key))) {
        Reference reference{scalar(each, fmt::format("the name of a {}", key)), each.where};
        for (const Reference& other : all)
            if (other.name == reference.name)
                throw UserError(each.where, fmt::format("the {} '{}' is named twice", key, reference.name));
        all.push_back(std::move(reference));
    }
    return all;
}

std::vector<Column> fixed(const YamlNode* node, const std::vector<std::string>& devices) {
    std::vector<Column> columns;
    if (!node) return columns;
    for (const YamlEntry& entry :
         map(*node, "a map of paths and values, such as {memory.channels: 16}").entries) {
        // As an axis of one value, so that lists, devices and mistakes are the same.
        YamlNode list;
        list.kind = YamlNode::Kind::Sequence;
        list.where = entry.value.where;
        list.items = {entry.value};
        YamlNode axes;
        axes.kind = YamlNode::Kind::Map;
        axes.where = node->where;
        axes.entries = {{entry.key, entry.where, list}};
        columns.push_back(read_axes(axes, devices).front().columns.front());
    }
    return columns;
}

/// A name as formulas can write it, and a column's that needs no device.
void check_name(const YamlEntry& entry) {
    const std::string& name = entry.key;
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto is_inside = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; };
    if (name.empty() || !is_letter(name.front()) || !std::all_of(name.begin(), name.end(), is_inside))
        throw UserError(entry.where, fmt::format("'{}' is no name of a derived value; expected a letter, and "
                                                 "then letters, digits, '_' and '.'",
                                                 name));
}

std::vector<Derived> derived(const YamlNode* node) {
    std::vector<Derived> all;
    if (!node) return all;
    for (const YamlEntry& entry :
         map(*node, "a map of names and formulas, such as {mxu.cols: mxu.rows}").entries) {
        check_name(entry);
        if (entry.value.kind != YamlNode::Kind::Map) {
            const std::string text = scalar(entry.value, "a formula, or {value: FORMULA, unit: UNIT}");
            all.push_back({entry.key, entry.where, "", Formula(text, entry.value.where)});
            continue;
        }
        refuse_unknown(entry.value, {"value", "unit"}, "a derived value");
        const YamlNode* value = entry.value.find("value");
        const YamlNode* unit = entry.value.find("unit");
        if (!value) throw UserError(entry.value.where, "expected {value: FORMULA, unit: UNIT}");
        if (unit && entry.key.find('.') == std::string::npos)
            throw UserError(unit->where,
                            fmt::format("'{}' is no key, and a unit is for keys that take one", entry.key));
        all.push_back({entry.key, entry.where, unit ? scalar(*unit, "a unit such as KiB") : "",
                       Formula(scalar(*value, "a formula"), value->where)});
    }
    return all;
}

std::int64_t whole(const YamlNode& node, std::string_view what, std::int64_t low, std::int64_t high) {
    const auto value = config::parse_integer(scalar(node, what), low, high);
    if (!value.value) throw UserError(node.where, fmt::format("expected {}: {}", what, value.problem));
    return *value.value;
}

Sample sample(const YamlNode* node) {
    Sample sample;
    if (!node) return sample;
    map(*node, "{method: latin_hypercube, count: 100, seed: 1}");
    refuse_unknown(*node, {"method", "count", "seed"}, "'sample'");
    const std::vector<std::string> methods{"grid", "random", "latin_hypercube"};
    if (const YamlNode* method = node->find("method")) {
        const std::string name = scalar(*method, "a method");
        const auto found = std::find(methods.begin(), methods.end(), name);
        if (found == methods.end())
            throw UserError(method->where, fmt::format("there is no method '{}'{}; expected grid, random or "
                                                       "latin_hypercube",
                                                       name, did_you_mean(name, methods)));
        sample.method = static_cast<Sample::Method>(found - methods.begin());
    } else {
        throw UserError(node->where, "expected a method: grid, random or latin_hypercube");
    }
    const YamlNode* count = node->find("count");
    const YamlNode* seed = node->find("seed");
    if (sample.method == Sample::Method::Grid) {
        if (count || seed)
            throw UserError(node->where, "a grid takes every combination: it has no count and no seed");
        return sample;
    }
    if (!count) throw UserError(node->where, "expected the count of samples");
    sample.count = whole(*count, "the count of samples", 1, kMostSamples);
    if (seed)
        sample.seed =
            static_cast<std::uint64_t>(whole(*seed, "a seed", 0, std::numeric_limits<std::int64_t>::max()));
    return sample;
}

std::vector<Objective> objectives(const YamlNode* node) {
    std::vector<Objective> all;
    if (!node) return all;
    for (const YamlNode& each :
         one_or_more(*node, "a figure or more, such as [time_ns, {max: utilization}]")) {
        std::optional<bool> maximize;
        const YamlNode* text = &each;
        if (each.kind == YamlNode::Kind::Map) {
            refuse_unknown(each, {"min", "max"}, "an objective");
            if (each.entries.size() != 1)
                throw UserError(each.where, "expected {min: FORMULA} or {max: FORMULA}");
            maximize = each.entries.front().key == "max";
            text = &each.entries.front().value;
        }
        const std::string name = scalar(*text, "a figure, {min: FORMULA} or {max: FORMULA}");
        for (const Objective& other : all)
            if (other.name == name)
                throw UserError(text->where, fmt::format("the objective '{}' comes twice", name));
        all.push_back({name, maximize, Formula(name, text->where)});
    }
    return all;
}

Limits limits(const YamlNode* node) {
    Limits limits{Ticks(std::int64_t{3600} * kTicksPerSecond), {}};
    if (!node) return limits;
    map(*node, "{time: 60 s, memory: 2 GiB}");
    refuse_unknown(*node, {"time", "memory"}, "'limits'");
    const auto quantity = [&](std::string_view key, config::Dimension dimension, std::int64_t low,
                              std::int64_t high) -> std::optional<std::int64_t> {
        const YamlNode* value = node->find(key);
        if (!value) return {};
        const auto parsed = config::parse_quantity(scalar(*value, key), dimension, low, high);
        if (!parsed.value)
            throw UserError(value->where, fmt::format("the limit of {}: {}", key, parsed.problem));
        return *parsed.value;
    };
    constexpr std::int64_t kWeek = std::int64_t{7 * 24 * 3600} * kTicksPerSecond;
    if (const auto time = quantity("time", config::Dimension::Time, kTicksPerSecond / 1000, kWeek))
        limits.time = Ticks(*time);
    if (const auto memory = quantity("memory", config::Dimension::Size, 32 << 20, std::int64_t{1} << 50))
        limits.memory = Bytes(*memory);
    return limits;
}

/// Every key of every device is moved once: by an axis, by `set:`, or by `derive:`.
void refuse_twice(const Experiment& experiment) {
    std::map<std::string, std::set<std::string>> owners;  // devices by path; "": all
    std::vector<Diagnostic> mistakes;
    const auto add = [&](const std::string& path, const std::string& device, const SourceMark& where) {
        std::set<std::string>& before = owners[path];
        if (before.contains(device) || before.contains("") || (device.empty() && !before.empty()))
            mistakes.push_back(
                {where, fmt::format("'{}' has its values from another place, too; expected one of "
                                    "'set', 'axes' and 'derive'",
                                    device.empty() ? path : device + ':' + path)});
        before.insert(device);
    };
    for (const Column& column : experiment.fixed) add(column.path, column.device, column.where);
    for (const Axis& axis : experiment.axes)
        for (const Column& column : axis.columns) add(column.path, column.device, column.where);
    for (const Derived& derived : experiment.derived) add(derived.name, "", derived.where);
    if (!mistakes.empty()) throw UserError(std::move(mistakes));
}

}  // namespace

Experiment read_experiment(const YamlNode& document) {
    if (document.kind != YamlNode::Kind::Map)
        throw UserError(document.where, "an experiment is a map with 'device', 'trace' and 'axes'");
    refuse_unknown(document, kKeys, "an experiment");
    Experiment experiment;
    if (const YamlNode* title = document.find("experiment")) experiment.title = scalar(*title, "a title");
    experiment.devices = references(document, "device");
    experiment.traces = references(document, "trace");
    std::vector<std::string> devices;
    for (const Reference& device : experiment.devices) devices.push_back(device.name);
    experiment.fixed = fixed(document.find("set"), devices);
    if (const YamlNode* axes = document.find("axes")) experiment.axes = read_axes(*axes, devices);
    experiment.derived = derived(document.find("derive"));
    refuse_twice(experiment);
    if (const YamlNode* where = document.find("where"))
        for (const YamlNode& each : one_or_more(*where, "a condition or more"))
            experiment.where.emplace_back(scalar(each, "a condition such as 'mxu.rows <= 256'"), each.where);
    experiment.sample = sample(document.find("sample"));
    experiment.objectives = objectives(document.find("objectives"));
    experiment.limits = limits(document.find("limits"));
    if (experiment.sample.method == Sample::Method::Grid)
        for (const Axis& axis : experiment.axes)
            if (axis.span)
                throw UserError(
                    axis.columns.front().where,
                    fmt::format("'{}' is a range without steps, and a grid needs them: {{linear: [{}, "
                                "{}, COUNT]}}, or samples ('sample:')",
                                axis.columns.front().name(), axis.span->from, axis.span->to));
    return experiment;
}

}  // namespace systole::sweep
