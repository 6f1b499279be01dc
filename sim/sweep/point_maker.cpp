// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/point_maker.h"

#include <algorithm>

namespace systole::sweep {

PointMaker::PointMaker(const Experiment& experiment, PointIdentity& identity)
    : experiment_(experiment), identity_(identity) {
    const auto column = [&](const std::string& path, const std::string& owner) {
        for (const Reference& device : experiment.devices)
            if (owner.empty() || owner == device.name) places_[device.name].emplace(path, columns_.size());
        columns_.push_back(owner.empty() ? path : owner + ':' + path);
    };
    for (const Axis& axis : experiment.axes)
        for (const Column& each : axis.columns) column(each.path, each.device);
    first_derived_ = columns_.size();
    for (const Derived& each : experiment.derived) column(each.name, each.device);
    for (const Column& each : experiment.fixed) column(each.path, each.device);
    find_steps();
}

/// A condition is known when the last value is derived that it uses. A key of the protocol that nothing moves
/// may follow from others of the protocol, so it waits for all of those.
void PointMaker::find_steps() {
    steps_.resize(experiment_.derived.size() + 1);
    for (const Condition& condition : experiment_.where) {
        std::size_t step = 0;
        for (const std::string& name : condition.formula.names())
            for (std::size_t i = 0; i < experiment_.derived.size(); ++i) {
                const std::string& derived = experiment_.derived[i].name;
                if (derived == name || (name.starts_with("run.") && derived.starts_with("run.")))
                    step = std::max(step, i + 1);
            }
        steps_[step].push_back(&condition);
    }
}

Draft PointMaker::make(const std::string& device, const std::string& trace,
                       const std::vector<AxisPlace>& places) {
    Making making{device, trace, {}};
    give(making, places);
    for (std::size_t i = 0;; ++i) {
        making.draft.wanted = holds(making, i);
        making.draft.whole = i == experiment_.derived.size();
        if (!making.draft.wanted || making.draft.whole) return std::move(making.draft);
        derive(making, i);
    }
}

Draft PointMaker::make_whole(const std::string& device, const std::string& trace,
                             const std::vector<AxisPlace>& places) {
    Making making{device, trace, {}};
    give(making, places);
    for (std::size_t i = 0;; ++i) {
        try {
            making.draft.wanted = making.draft.wanted && holds(making, i);
            if (i == experiment_.derived.size()) return std::move(making.draft);
            derive(making, i);
        } catch (const UserError&) {
            if (making.draft.wanted) throw;
            making.draft.whole = false;
            return std::move(making.draft);
        }
    }
}

/// What formulas need nothing for: axes and constants.
void PointMaker::give(Making& making, const std::vector<AxisPlace>& places) {
    making.draft.values.resize(columns_.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Axis& axis = experiment_.axes[i];
        for (const Column& column : axis.columns) {
            const std::size_t index = places[i].index;
            if (axis.span)
                set(making, column, at++, value_within(*axis.span, places[i].share), column.where);
            else
                set(making, column, at++, column.values[index], column.places[index]);
        }
    }
    at += experiment_.derived.size();
    for (const Column& column : experiment_.fixed)
        set(making, column, at++, column.values.front(), column.places.front());
}

void PointMaker::set(Making& making, const Column& column, std::size_t place, std::string value,
                     const SourceMark& where) {
    if (!column.device.empty() && column.device != making.device) return;
    making.draft.settings.push_back({column.path, value, where});
    making.draft.values[place] = std::move(value);
}

void PointMaker::derive(Making& making, std::size_t number) {
    const Derived& derived = experiment_.derived[number];
    if (!derived.device.empty() && derived.device != making.device) return;
    if (broken_.contains(&derived.formula)) return;
    std::string text = number_text(evaluate(derived.formula, making));
    if (!derived.unit.empty()) text += ' ' + derived.unit;
    if (derived.is_setting()) making.draft.settings.push_back({derived.name, text, derived.formula.where()});
    making.draft.values[first_derived_ + number] = std::move(text);
}

bool PointMaker::holds(const Making& making, std::size_t derived) {
    return std::all_of(steps_[derived].begin(), steps_[derived].end(), [&](const Condition* condition) {
        const bool concerns = condition->device.empty() || condition->device == making.device;
        return !concerns || broken_.contains(&condition->formula) ||
               evaluate(condition->formula, making) != 0;
    });
}

double PointMaker::evaluate(const Formula& formula, const Making& making) {
    return formula.evaluate([&](const std::string& name) { return number(name, making); });
}

std::optional<double> PointMaker::number(const std::string& name, const Making& making) {
    const auto& places = places_[making.device];
    const auto place = places.find(name);
    std::optional<std::string> key;
    if (place == places.end())
        key = identity_.value(making.device, making.trace, name, making.draft.settings);
    if (place == places.end() && !key) return {};
    const std::string& text = key ? *key : making.draft.values[place->second];
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) return known->second;
    return numbers_[text] = number_of(text);
}

}  // namespace systole::sweep
