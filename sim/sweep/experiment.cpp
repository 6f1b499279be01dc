// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "sim/base/mistakes.h"
#include "sim/config/leaf_text.h"
#include "sim/config/quantity.h"
#include "sim/config/schema.h"
#include "sim/sweep/experiment_formulas.h"
#include "sim/sweep/experiment_nodes.h"

namespace systole::sweep {
namespace {

using config::YamlEntry;
using config::YamlNode;

constexpr std::int64_t kMostSamples = 100'000'000;
const std::vector<std::string> kKeys{"experiment", "schema", "device",     "trace",  "set",   "axes",
                                     "derive",     "where",  "objectives", "sample", "limits"};

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

std::vector<Column> fixed(const YamlNode* node, const std::vector<std::string>& devices, Mistakes& mistakes) {
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
        mistakes.attempt([&] { columns.push_back(read_axes(axes, devices).front().columns.front()); });
    }
    return columns;
}

std::int64_t whole(const YamlNode& node, std::string_view what, std::int64_t low, std::int64_t high) {
    const auto value = config::parse_integer(scalar(node, what), low, high);
    if (!value.value) throw UserError(node.where, fmt::format("expected {}: {}", what, value.problem));
    return *value.value;
}

Sample sample(const YamlNode* node, Mistakes& mistakes) {
    Sample sample;
    if (!node) return sample;
    map(*node, "{method: latin_hypercube, count: 100, seed: 1}");
    refuse_unknown(*node, {"method", "count", "seed"}, "'sample'", mistakes);
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

Limits limits(const YamlNode* node, Mistakes& mistakes) {
    Limits limits{Ticks(std::int64_t{3600} * kTicksPerSecond), {}};
    if (!node) return limits;
    map(*node, "{time: 60 s, memory: 2 GiB}");
    refuse_unknown(*node, {"time", "memory"}, "'limits'", mistakes);
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
void refuse_twice(const Experiment& experiment, Mistakes& mistakes) {
    std::map<std::string, std::set<std::string>> owners;  // devices by path; "": all
    const auto add = [&](const std::string& path, const std::string& device, const SourceMark& where) {
        std::set<std::string>& before = owners[path];
        if (before.contains(device) || before.contains("") || (device.empty() && !before.empty()))
            mistakes.add(where, fmt::format("'{}' has its values from another place, too; expected one of "
                                            "'set', 'axes' and 'derive'",
                                            device.empty() ? path : device + ':' + path));
        before.insert(device);
    };
    for (const Column& column : experiment.fixed) add(column.path, column.device, column.where);
    for (const Axis& axis : experiment.axes)
        for (const Column& column : axis.columns) add(column.path, column.device, column.where);
    for (const Derived& derived : experiment.derived) add(derived.name, derived.device, derived.where);
}

/// Ranges without steps, which only samples can take values of.
void refuse_spans(const Experiment& experiment, Mistakes& mistakes) {
    for (const Axis& axis : experiment.axes)
        if (axis.span && experiment.sample.method == Sample::Method::Grid)
            mistakes.add(axis.columns.front().where,
                         fmt::format("'{}' is a range without steps, and a grid needs them: {{linear: [{}, "
                                     "{}, COUNT]}}, or samples ('sample:')",
                                     axis.columns.front().name(), axis.span->from, axis.span->to));
}

}  // namespace

Experiment read_experiment(const YamlNode& document) {
    if (document.kind != YamlNode::Kind::Map)
        throw UserError(document.where, "an experiment is a map with 'device', 'trace' and 'axes'");
    config::of_schema(document, kExperimentSchema);
    Mistakes mistakes;
    refuse_unknown(document, kKeys, "an experiment", mistakes);
    Experiment experiment;
    mistakes.attempt([&] {
        if (const YamlNode* title = document.find("experiment")) experiment.title = scalar(*title, "a title");
    });
    const bool named = mistakes.attempt([&] {
        experiment.devices = references(document, "device");
        experiment.traces = references(document, "trace");
    });
    // Without devices, whatever is said of one would be wrong.
    if (!named) mistakes.throw_if_any();
    std::vector<std::string> devices;
    for (const Reference& device : experiment.devices) devices.push_back(device.name);
    mistakes.attempt([&] { experiment.fixed = fixed(document.find("set"), devices, mistakes); });
    mistakes.attempt([&] {
        if (const YamlNode* axes = document.find("axes")) experiment.axes = read_axes(*axes, devices);
    });
    mistakes.attempt([&] { experiment.derived = read_derived(document.find("derive"), devices, mistakes); });
    refuse_twice(experiment, mistakes);
    mistakes.attempt([&] { experiment.where = read_conditions(document.find("where"), devices, mistakes); });
    if (mistakes.attempt([&] { experiment.sample = sample(document.find("sample"), mistakes); }))
        refuse_spans(experiment, mistakes);
    mistakes.attempt([&] { experiment.objectives = read_objectives(document.find("objectives"), mistakes); });
    mistakes.attempt([&] { experiment.limits = limits(document.find("limits"), mistakes); });
    mistakes.throw_if_any();
    return experiment;
}

}  // namespace systole::sweep
