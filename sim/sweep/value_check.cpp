// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/value_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "sim/config/quantity.h"

namespace systole::sweep {
namespace {

constexpr std::size_t kMostProbes = 256;  // values of an axis that are tried
constexpr int kTries = 16;                // combinations in which one is tried
constexpr int kDraws = 1000;              // of which that are wanted are sought among so many

bool same_place(const SourceMark& a, const SourceMark& b) {
    return a.file == b.file && a.line == b.line && a.column == b.column;
}

/// The unit in which formulas count what a value is, or "" if it is no quantity.
std::string_view unit_of(const std::string& value) {
    using config::Dimension;
    constexpr std::pair<Dimension, std::string_view> kUnits[] = {{Dimension::Frequency, "Hz"},
                                                                 {Dimension::Size, "B"},
                                                                 {Dimension::Bandwidth, "B/s"},
                                                                 {Dimension::Time, "s"},
                                                                 {Dimension::Power, "W"},
                                                                 {Dimension::Price, "USD"},
                                                                 {Dimension::PricePerHour, "USD/h"},
                                                                 {Dimension::PricePerEnergy, "USD/kWh"},
                                                                 {Dimension::Years, "years"}};
    for (const auto& [dimension, unit] : kUnits)
        if (config::parse_quantity(value, dimension, 0, std::numeric_limits<std::int64_t>::max()).value)
            return unit;
    return "";
}

class ValueCheck {
public:
    ValueCheck(const Experiment& experiment, const Simulator& simulator, PointIdentity& identity,
               PointMaker& maker, Mistakes& mistakes)
        : experiment_(experiment),
          simulator_(simulator),
          identity_(identity),
          maker_(maker),
          mistakes_(mistakes) {}

    void check() {
        for (const Reference& device : experiment_.devices)
            for (const Reference& trace : experiment_.traces) {
                const bool evaluated = mistakes_.attempt([&] { check(device.name, trace.name); });
                for (Diagnostic& each : found_) mistakes_.add(each.where, std::move(each.message));
                // The same keys on the next trace would be the same mistakes.
                if (!evaluated || !found_.empty()) return;
            }
        for (auto& [value, refusals] : unfit_)
            if (!fit_.contains(value)) keep(std::move(refusals));
        for (Diagnostic& each : found_) mistakes_.add(each.where, std::move(each.message));
    }

private:
    using Value = std::pair<std::size_t, std::size_t>;  ///< an axis, and the number of its value

    /// What came of trying a value on a device and a trace.
    struct Trial {
        bool taken = false;
        bool wanted = false;           ///< `where` admits some combination with it
        std::vector<Diagnostic> what;  ///< is wrong: with a combination that is wanted, if one was tried
        /// Device, trace and protocol are sound, each by itself: others may take the value.
        bool sound = false;
    };

    void check(const std::string& device, const std::string& trace) {
        if (experiment_.axes.empty()) judge({0, 0}, try_value(device, trace, {0, 0}));
        for (std::size_t axis = 0; axis < experiment_.axes.size(); ++axis) {
            const std::size_t size = experiment_.axes[axis].span ? 2 : experiment_.axes[axis].size();
            const std::size_t probes = std::min(size, kMostProbes);
            std::vector<std::pair<Value, Trial>> unwanted;
            for (std::size_t i = 0; i < probes; ++i) {
                const Value value{axis, probes == 1 ? 0 : i * (size - 1) / (probes - 1)};
                Trial trial = try_value(device, trace, value);
                if (trial.taken || trial.wanted)
                    judge(value, std::move(trial));
                else
                    unwanted.emplace_back(value, std::move(trial));
            }
            // What `where` leaves out needs not be sound, unless it leaves out everything that was tried.
            if (unwanted.size() < probes) continue;
            for (auto& [value, trial] : unwanted) judge(value, std::move(trial));
        }
    }

    void judge(const Value& value, Trial trial) {
        if (trial.taken)
            fit_.insert(value);
        else if (trial.sound)
            unfit_.emplace(value, std::move(trial.what));
        else
            keep(std::move(trial.what));
    }

    /// The next value of a key that is none has the same words.
    void keep(std::vector<Diagnostic> what) {
        for (Diagnostic& each : what)
            if (std::none_of(found_.begin(), found_.end(),
                             [&](const Diagnostic& other) { return other.message == each.message; }))
                found_.push_back(std::move(each));
    }

    Trial try_value(const std::string& device, const std::string& trace, const Value& value) {
        Trial trial;
        for (int draw = 0, tries = 0; draw < kDraws && tries < kTries; ++draw) {
            const Draft draft = maker_.make_whole(device, trace, neighbours(value, draw));
            if (!draft.whole || (draw > 0 && !draft.wanted)) continue;
            ++tries;
            try {
                simulator_.check(device, trace, draft.settings);
                trial.taken = true;
                keep(lacking(device, trace, draft.settings));
                return trial;
            } catch (const UserError& error) {
                if (trial.what.empty() || (draft.wanted && !trial.wanted)) {
                    trial.what = explained(error, device, trace, draft.settings);
                    trial.sound = is_sound(device, trace, draft.settings);
                }
            }
            trial.wanted = trial.wanted || draft.wanted;
            if (experiment_.axes.empty()) break;
        }
        return trial;
    }

    /// Objectives whose figures these runs cannot have: without them there would be no front.
    std::vector<Diagnostic> lacking(const std::string& device, const std::string& trace,
                                    const std::vector<Setting>& settings) const {
        std::vector<Diagnostic> all;
        if (!simulator_.lacks) return all;
        for (const Objective& objective : experiment_.objectives)
            for (const std::string& name : objective.formula.names())
                if (std::string why = simulator_.lacks(device, trace, settings, name); !why.empty())
                    all.push_back({objective.formula.where(), fmt::format("'{}': {}", name, why)});
        return all;
    }

    bool is_sound(const std::string& device, const std::string& trace,
                  const std::vector<Setting>& settings) const {
        const SortedSettings sorted(settings);
        try {
            simulator_.device(device, sorted.device);
            simulator_.trace(trace, sorted.workload);
            simulator_.protocol(sorted.run);
            return true;
        } catch (const UserError&) {
            return false;
        }
    }

    /// A combination with this value of this axis: others at their first values, then anywhere.
    std::vector<AxisPlace> neighbours(const Value& value, int draw) const {
        std::mt19937_64 random(static_cast<std::uint64_t>(draw));
        std::vector<AxisPlace> places(experiment_.axes.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            const Axis& each = experiment_.axes[i];
            const std::uint64_t number = random();
            if (draw > 0 && each.span) places[i].share = static_cast<double>(number >> 12) / 0x1p52;
            if (draw > 0 && !each.span) places[i].index = number % each.size();
            if (i != value.first) continue;
            if (each.span)
                places[i].share = value.second == 0 ? 0 : 0x1.fffffffffffffp-1;
            else
                places[i].index = value.second;
        }
        return places;
    }

    /// The simulator's mistakes, with what the experiment can do about them.
    std::vector<Diagnostic> explained(const UserError& error, const std::string& device,
                                      const std::string& trace, const std::vector<Setting>& settings) {
        std::vector<Diagnostic> all = error.diagnostics();
        for (Diagnostic& each : all)
            for (const Setting& setting : settings) {
                if (!same_place(each.where, setting.where)) continue;
                each.message += unit_hint(setting, device, trace);
                if (const std::string other = who_takes(setting, device); !other.empty())
                    each.message = fmt::format("{}: {}; for one device write '{}:{}'", device, each.message,
                                               other, setting.path);
                break;
            }
        return all;
    }

    /// Of a derived value without a unit for a key that has one.
    std::string unit_hint(const Setting& setting, const std::string& device, const std::string& trace) {
        const bool lacks =
            std::any_of(experiment_.derived.begin(), experiment_.derived.end(), [&](const Derived& each) {
                return each.unit.empty() && same_place(each.formula.where(), setting.where);
            });
        const auto base = lacks ? identity_.value(device, trace, setting.path, {}) : std::nullopt;
        const std::string_view unit = base ? unit_of(*base) : "";
        return unit.empty() ? "" : fmt::format(": {{value: FORMULA, unit: {}}}", unit);
    }

    /// Of a value for all devices that this one does not take: another that does, or "".
    std::string who_takes(const Setting& setting, const std::string& device) const {
        if (setting.path.starts_with("workload.") || setting.path.starts_with("run.") ||
            is_own(setting.path, device) || takes(device, setting))
            return "";
        for (const Reference& other : experiment_.devices)
            if (takes(other.name, setting)) return other.name;
        return "";
    }

    /// Whether the experiment moves the key for this device alone.
    bool is_own(const std::string& path, const std::string& device) const {
        const auto own = [&](const Column& each) { return each.path == path && each.device == device; };
        return std::any_of(experiment_.fixed.begin(), experiment_.fixed.end(), own) ||
               std::any_of(experiment_.axes.begin(), experiment_.axes.end(),
                           [&](const Axis& axis) {
                               return std::any_of(axis.columns.begin(), axis.columns.end(), own);
                           }) ||
               std::any_of(experiment_.derived.begin(), experiment_.derived.end(),
                           [&](const Derived& each) { return each.name == path && each.device == device; });
    }

    bool takes(const std::string& device, const Setting& setting) const {
        try {
            simulator_.device(device, {setting});
            return true;
        } catch (const UserError&) {
            return false;
        }
    }

    const Experiment& experiment_;
    const Simulator& simulator_;
    PointIdentity& identity_;
    PointMaker& maker_;
    Mistakes& mistakes_;
    std::vector<Diagnostic> found_;
    std::set<Value> fit_;                             ///< taken by some device with some trace
    std::map<Value, std::vector<Diagnostic>> unfit_;  ///< that are sound, and refused all the same
};

}  // namespace

void check_values(const Experiment& experiment, const Simulator& simulator, PointIdentity& identity,
                  PointMaker& maker, Mistakes& mistakes) {
    ValueCheck(experiment, simulator, identity, maker, mistakes).check();
}

}  // namespace systole::sweep
