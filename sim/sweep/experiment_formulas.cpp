// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/experiment_formulas.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/sweep/axis.h"
#include "sim/sweep/experiment_nodes.h"

namespace systole::sweep {
namespace {

using config::YamlEntry;
using config::YamlNode;

constexpr std::string_view kConditions = "a condition such as 'mxu.rows <= 256', or {DEVICE: CONDITION}";

/// A name as formulas can write it.
void check_name(const std::string& name, const SourceMark& where) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto is_inside = [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.';
    };
    if (name.empty() || !is_letter(name.front()) || !std::all_of(name.begin(), name.end(), is_inside))
        throw UserError(where, fmt::format("'{}' is no name of a derived value; expected a letter, and then "
                                           "letters, digits, '_' and '.'",
                                           name));
}

void check_device(const std::string& device, const std::vector<std::string>& devices,
                  const SourceMark& where) {
    if (const std::string what = device_mistake(device, devices); !what.empty()) throw UserError(where, what);
}

Derived read_one(const YamlEntry& entry, const std::vector<std::string>& devices, Mistakes& mistakes) {
    const KeyName name = split_name(entry.key);
    check_device(name.device, devices, entry.where);
    check_name(name.path, entry.where);
    if (entry.value.kind != YamlNode::Kind::Map) {
        const std::string text = scalar(entry.value, "a formula, or {value: FORMULA, unit: UNIT}");
        return {name.path, name.device, entry.where, "", Formula(text, entry.value.where)};
    }
    refuse_unknown(entry.value, {"value", "unit"}, "a derived value", mistakes);
    const YamlNode* value = entry.value.find("value");
    const YamlNode* unit = entry.value.find("unit");
    if (!value) throw UserError(entry.value.where, "expected {value: FORMULA, unit: UNIT}");
    if (unit && name.path.find('.') == std::string::npos)
        throw UserError(unit->where,
                        fmt::format("'{}' is no key, and a unit is for keys that take one", entry.key));
    return {name.path, name.device, entry.where, unit ? scalar(*unit, "a unit such as KiB") : "",
            Formula(scalar(*value, "a formula"), value->where)};
}

Objective read_objective(const YamlNode& node, Mistakes& mistakes) {
    std::optional<bool> maximize;
    const YamlNode* text = &node;
    if (node.kind == YamlNode::Kind::Map) {
        refuse_unknown(node, {"min", "max"}, "an objective", mistakes);
        if (node.entries.size() != 1)
            throw UserError(node.where, "expected {min: FORMULA} or {max: FORMULA}");
        maximize = node.entries.front().key == "max";
        text = &node.entries.front().value;
    }
    const std::string name = scalar(*text, "a figure, {min: FORMULA} or {max: FORMULA}");
    return {name, maximize, Formula(name, text->where)};
}

}  // namespace

std::vector<Derived> read_derived(const YamlNode* node, const std::vector<std::string>& devices,
                                  Mistakes& mistakes) {
    std::vector<Derived> all;
    if (!node) return all;
    for (const YamlEntry& entry :
         map(*node, "a map of names and formulas, such as {mxu.cols: mxu.rows}").entries)
        mistakes.attempt([&] { all.push_back(read_one(entry, devices, mistakes)); });
    return all;
}

std::vector<Condition> read_conditions(const YamlNode* node, const std::vector<std::string>& devices,
                                       Mistakes& mistakes) {
    std::vector<Condition> all;
    if (!node) return all;
    const auto add = [&](const std::string& device, const SourceMark& where, const YamlNode& text) {
        mistakes.attempt([&] {
            check_device(device, devices, where);
            all.push_back({device, Formula(scalar(text, kConditions), text.where)});
        });
    };
    for (const YamlNode& each : one_or_more(*node, "a condition or more")) {
        if (each.kind == YamlNode::Kind::Map && !each.entries.empty())
            for (const YamlEntry& entry : each.entries) add(entry.key, entry.where, entry.value);
        else
            add("", each.where, each);
    }
    return all;
}

std::vector<Objective> read_objectives(const YamlNode* node, Mistakes& mistakes) {
    std::vector<Objective> all;
    if (!node) return all;
    for (const YamlNode& each : one_or_more(*node, "a figure or more, such as [time_ns, {max: utilization}]"))
        mistakes.attempt([&] {
            Objective objective = read_objective(each, mistakes);
            for (const Objective& other : all)
                if (other.name == objective.name)
                    throw UserError(objective.formula.where(),
                                    fmt::format("the objective '{}' comes twice", objective.name));
            all.push_back(std::move(objective));
        });
    return all;
}

}  // namespace systole::sweep
