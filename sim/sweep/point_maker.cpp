// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/point_maker.h"

#include <fmt/format.h>

#include <algorithm>

namespace systole::sweep {

PointMaker::PointMaker(const Experiment& experiment, PointIdentity& identity)
    : experiment_(experiment), identity_(identity) {
    const auto column = [&](const std::string& path, const std::string& owner) {
        columns_.push_back(owner.empty() ? path : owner + ':' + path);
        paths_.push_back(path);
        owners_.push_back(owner);
    };
    for (const Axis& axis : experiment.axes)
        for (const Column& each : axis.columns) column(each.path, each.device);
    for (const Derived& each : experiment.derived) column(each.name, "");
    for (const Column& each : experiment.fixed) column(each.path, each.device);
}

void PointMaker::check_names() {
    std::vector<Diagnostic> mistakes;
    const auto check = [&](const Formula& formula, std::size_t derived_before) {
        for (const std::string& name : formula.names())
            for (const Reference& device : experiment_.devices)
                for (const Reference& trace : experiment_.traces) {
                    const auto derived = std::find_if(experiment_.derived.begin(), experiment_.derived.end(),
                                                      [&](const Derived& each) { return each.name == name; });
                    const bool is_late =
                        derived - experiment_.derived.begin() >= static_cast<std::ptrdiff_t>(derived_before);
                    bool known = derived != experiment_.derived.end()
                                     ? !is_late
                                     : identity_.value(device.name, trace.name, name, {}).has_value();
                    const std::size_t first =
                        columns_.size() - experiment_.derived.size() - experiment_.fixed.size();
                    for (std::size_t i = 0; i < columns_.size(); ++i) {
                        const bool is_derived = i >= first && i < first + experiment_.derived.size();
                        known = known || (!is_derived && paths_[i] == name &&
                                          (owners_[i].empty() || owners_[i] == device.name));
                    }
                    if (known) continue;
                    std::vector<std::string> candidates = identity_.paths(device.name, trace.name);
                    candidates.insert(candidates.end(), paths_.begin(), paths_.end());
                    mistakes.push_back(
                        {formula.where(),
                         fmt::format("'{}' is no axis, no value derived before, and no key of {} or {}{}",
                                     name, device.name, trace.name, did_you_mean(name, candidates))});
                    return;
                }
    };
    for (std::size_t i = 0; i < experiment_.derived.size(); ++i) check(experiment_.derived[i].formula, i);
    for (const Formula& formula : experiment_.where) check(formula, experiment_.derived.size());
    if (!mistakes.empty()) throw UserError(std::move(mistakes));
}

Draft PointMaker::make(const std::string& device, const std::string& trace,
                       const std::vector<AxisPlace>& places) {
    Draft draft;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Axis& axis = experiment_.axes[i];
        for (const Column& column : axis.columns) {
            if (axis.span)
                add(draft, column, value_within(*axis.span, places[i].share), column.where, device);
            else
                add(draft, column, column.values[places[i].index], column.places[places[i].index], device);
        }
    }
    const std::size_t derived = draft.values.size();
    draft.values.resize(derived + experiment_.derived.size());
    // Constants are known to formulas, though their columns come last.
    for (const Column& column : experiment_.fixed)
        add(draft, column, column.values.front(), column.places.front(), device);
    for (std::size_t i = 0; i < experiment_.derived.size(); ++i) {
        derive(draft, experiment_.derived[i], device, trace);
        draft.values[derived + i] = std::move(draft.values.back());
        draft.values.pop_back();
    }
    return draft;
}

bool PointMaker::is_wanted(const std::string& device, const std::string& trace, const Draft& draft) {
    return std::all_of(experiment_.where.begin(), experiment_.where.end(), [&](const Formula& formula) {
        return formula.evaluate(
                   [&](const std::string& name) { return number(name, device, trace, draft); }) != 0;
    });
}

std::optional<double> PointMaker::number(const std::string& name, const std::string& device,
                                         const std::string& trace, const Draft& draft) {
    std::optional<std::string> text;
    for (std::size_t i = 0; i < draft.values.size() && i < paths_.size(); ++i)
        if (paths_[i] == name && (owners_[i].empty() || owners_[i] == device)) text = draft.values[i];
    if (!text) text = identity_.value(device, trace, name, draft.settings);
    if (!text) return {};
    const auto known = numbers_.find(*text);
    if (known != numbers_.end()) return known->second;
    return numbers_[*text] = number_of(*text);
}

void PointMaker::add(Draft& draft, const Column& column, std::string value, const SourceMark& where,
                     const std::string& device) {
    if (!column.device.empty() && column.device != device) {
        draft.values.emplace_back();
        return;
    }
    draft.settings.push_back({column.path, value, where});
    draft.values.push_back(std::move(value));
}

void PointMaker::derive(Draft& draft, const Derived& derived, const std::string& device,
                        const std::string& trace) {
    const double value =
        derived.formula.evaluate([&](const std::string& name) { return number(name, device, trace, draft); });
    std::string text = number_text(value);
    if (!derived.unit.empty()) text += ' ' + derived.unit;
    if (derived.is_setting()) draft.settings.push_back({derived.name, text, derived.formula.where()});
    draft.values.push_back(std::move(text));
}

}  // namespace systole::sweep
