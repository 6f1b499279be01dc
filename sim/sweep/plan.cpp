// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <unordered_set>

#include "sim/base/text.h"
#include "sim/sweep/point_identity.h"
#include "sim/sweep/point_maker.h"

namespace systole::sweep {
namespace {

constexpr std::size_t kMostProbes = 256;    // values of an axis that are tried
constexpr int kTries = 16;                  // combinations in which one is tried
constexpr std::uint64_t kMostDraws = 1000;  // of random combinations for each point that is wanted

/// Combinations that were drawn, of a few axes without spans: drawn again they are no new ones, and there is
/// no more to draw when all were. Of others every one counts as new.
class DrawnCombinations {
public:
    explicit DrawnCombinations(const std::vector<Axis>& axes) : axes_(axes) {
        const auto count = Combinations::of_grid(axes);
        if (count && *count <= kMost) count_ = *count;  // none: there is a span
    }
    /// Whether it is new.
    bool add(const std::vector<AxisPlace>& places) {
        if (count_ == 0) return true;
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < places.size(); ++i) number = number * axes_[i].size() + places[i].index;
        return seen_.insert(number).second;
    }
    bool all() const { return count_ > 0 && seen_.size() == count_; }

private:
    static constexpr std::uint64_t kMost = 1'000'000;
    const std::vector<Axis>& axes_;
    std::uint64_t count_ = 0;
    std::unordered_set<std::uint64_t> seen_;
};

class Planner {
public:
    Planner(const Experiment& experiment, const Simulator& simulator, const PlanOptions& options)
        : experiment_(experiment),
          simulator_(simulator),
          options_(options),
          identity_(simulator),
          maker_(experiment, identity_) {}

    Plan make() {
        check_references();
        refuse_too_many();
        refuse_taken_names();
        maker_.check_names();
        check_objectives();
        check_values();
        Plan plan{Manifest(maker_.columns())};
        for (const Reference& device : experiment_.devices)
            for (const Reference& trace : experiment_.traces) enumerate(device.name, trace.name, plan);
        if (plan.manifest.size() == 0)
            throw UserError(experiment_.where.empty() ? SourceMark{} : experiment_.where.front().where(),
                            fmt::format("'where' excludes all {} combinations; no point is left",
                                        with_thousands(static_cast<std::int64_t>(plan.excluded))));
        return plan;
    }

private:
    /// Devices and traces that are there and sound, before anything is said about their keys.
    void check_references() {
        std::vector<Diagnostic> mistakes;
        const auto check = [&](const Reference& reference, const auto& resolve) {
            try {
                resolve(reference.name, std::vector<Setting>());
            } catch (const UserError& error) {
                for (Diagnostic each : error.diagnostics()) {
                    if (each.where.file.empty()) each.where = reference.where;
                    mistakes.push_back(std::move(each));
                }
            }
        };
        for (const Reference& device : experiment_.devices) check(device, simulator_.device);
        for (const Reference& trace : experiment_.traces) check(trace, simulator_.trace);
        if (!mistakes.empty()) throw UserError(std::move(mistakes));
    }

    void refuse_too_many() const {
        const std::uint64_t pairs = experiment_.devices.size() * experiment_.traces.size();
        std::optional<std::uint64_t> count = experiment_.sample.method == Sample::Method::Grid
                                                 ? Combinations::of_grid(experiment_.axes)
                                                 : static_cast<std::uint64_t>(experiment_.sample.count);
        std::uint64_t all = 0;
        if (count && __builtin_mul_overflow(*count, pairs, &all)) count.reset();
        if (count && all <= (options_.many ? kMostCombinations : kManyCombinations)) return;
        const std::string number =
            count ? with_thousands(static_cast<std::int64_t>(std::min(all, std::uint64_t{1} << 62)))
                  : "more than 18 quintillion";
        if (!count || all > kMostCombinations)
            throw UserError(
                fmt::format("{} combinations; the most is {}: shorten axes, or take samples ('sample:')",
                            number, with_thousands(kMostCombinations)));
        throw UserError(fmt::format("{} combinations; --yes says that more than {} are meant", number,
                                    with_thousands(kManyCombinations)));
    }

    /// A derived value's column is its own.
    void refuse_taken_names() const {
        std::vector<std::string> taken{"id", "device", "trace", "status", "error", "pareto"};
        for (const MetricKind& metric : simulator_.metrics) taken.push_back(metric.name);
        for (const Derived& derived : experiment_.derived)
            if (std::find(taken.begin(), taken.end(), derived.name) != taken.end())
                throw UserError(derived.where,
                                fmt::format("'{}' is the name of a column that results have; give "
                                            "the derived value another",
                                            derived.name));
    }

    void check_objectives() const {
        std::vector<std::string> known;
        for (const MetricKind& metric : simulator_.metrics)
            if (metric.is_number) known.push_back(metric.name);
        for (const std::string& column : maker_.columns())
            known.push_back(column.substr(column.rfind(':') + 1));
        std::vector<Diagnostic> mistakes;
        for (const Objective& objective : experiment_.objectives)
            for (const std::string& name : objective.formula.names())
                if (std::find(known.begin(), known.end(), name) == known.end())
                    mistakes.push_back(
                        {objective.formula.where(),
                         fmt::format("'{}' is no figure of a result and no column of this sweep{}", name,
                                     did_you_mean(name, known))});
        if (!mistakes.empty()) throw UserError(std::move(mistakes));
    }

    /// Every value of every axis, each with others as a point has them, until some combination takes it: what
    /// none takes is no value of the key. Keys that no axis moves are tried along.
    void check_values() {
        std::vector<Diagnostic> mistakes;
        for (const Reference& device : experiment_.devices)
            for (const Reference& trace : experiment_.traces) {
                const std::size_t before = mistakes.size();
                if (experiment_.axes.empty()) try_value(device.name, trace.name, 0, 0, mistakes);
                for (std::size_t axis = 0; axis < experiment_.axes.size(); ++axis) {
                    const std::size_t size = experiment_.axes[axis].span ? 2 : experiment_.axes[axis].size();
                    const std::size_t probes = std::min(size, kMostProbes);
                    for (std::size_t i = 0; i < probes; ++i)
                        try_value(device.name, trace.name, axis,
                                  probes == 1 ? 0 : i * (size - 1) / (probes - 1), mistakes);
                }
                // The same keys on the next trace would be the same mistakes.
                if (mistakes.size() > before) throw UserError(in_order(std::move(mistakes)));
            }
    }

    void try_value(const std::string& device, const std::string& trace, std::size_t axis, std::size_t value,
                   std::vector<Diagnostic>& mistakes) {
        std::vector<Diagnostic> first;
        for (int turn = 0; turn < kTries; ++turn) {
            const std::vector<AxisPlace> places = neighbours(axis, value, turn);
            const Draft draft = maker_.make(device, trace, places);
            // What no constraint admits needs not be sound, but the first try says what is wrong with it.
            if (turn > 0 && !maker_.is_wanted(device, trace, draft)) continue;
            try {
                resolve(device, trace, draft.settings);
                return;
            } catch (const UserError& error) {
                if (first.empty()) first = error.diagnostics();
            }
            if (experiment_.axes.empty()) break;
        }
        for (Diagnostic& each : first)
            if (std::none_of(mistakes.begin(), mistakes.end(),
                             [&](const Diagnostic& other) { return to_string(other) == to_string(each); }))
                mistakes.push_back(std::move(each));
    }

    /// A combination with this value of this axis: others at their first values, then anywhere.
    std::vector<AxisPlace> neighbours(std::size_t axis, std::size_t value, int turn) const {
        std::mt19937_64 random(static_cast<std::uint64_t>(turn));
        std::vector<AxisPlace> places(experiment_.axes.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            const Axis& each = experiment_.axes[i];
            const std::uint64_t draw = random();
            if (turn > 0 && each.span) places[i].share = static_cast<double>(draw >> 12) / 0x1p52;
            if (turn > 0 && !each.span) places[i].index = draw % each.size();
            if (i != axis) continue;
            if (each.span)
                places[i].share = value == 0 ? 0 : 0x1.fffffffffffffp-1;
            else
                places[i].index = value;
        }
        return places;
    }

    void resolve(const std::string& device, const std::string& trace, const std::vector<Setting>& settings) {
        const SortedSettings sorted(settings);
        simulator_.device(device, sorted.device);
        if (!sorted.workload.empty()) simulator_.trace(trace, sorted.workload);
        if (!sorted.run.empty()) simulator_.protocol(sorted.run);
    }

    void enumerate(const std::string& device, const std::string& trace, Plan& plan) {
        Combinations combinations(experiment_.axes, experiment_.sample);
        const bool random = experiment_.sample.method == Sample::Method::Random;
        std::int64_t made = 0;
        std::uint64_t draws = 0;
        DrawnCombinations drawn(experiment_.axes);
        for (std::vector<AxisPlace> places; combinations.next(places);) {
            if (random && (made == experiment_.sample.count ||
                           draws++ == kMostDraws * static_cast<std::uint64_t>(experiment_.sample.count)))
                break;
            if (random && !drawn.add(places)) {
                if (drawn.all()) break;
                continue;
            }
            if (options_.progress && ++looked_ % 1000 == 0) options_.progress(looked_);
            const Draft draft = maker_.make(device, trace, places);
            if (!maker_.is_wanted(device, trace, draft)) {
                ++plan.excluded;
                continue;
            }
            Point point{identity_.id(device, trace, draft.settings), device, trace, draft.values};
            if (!seen_.insert(std::stoull(point.id, nullptr, 16)).second) {
                ++plan.equal;
                continue;
            }
            plan.manifest.add(point);
            ++made;
        }
    }

    static std::vector<Diagnostic> in_order(std::vector<Diagnostic> mistakes) {
        std::stable_sort(mistakes.begin(), mistakes.end(), [](const Diagnostic& a, const Diagnostic& b) {
            return std::tie(a.where.line, a.where.column) < std::tie(b.where.line, b.where.column);
        });
        return mistakes;
    }

    const Experiment& experiment_;
    const Simulator& simulator_;
    const PlanOptions& options_;
    PointIdentity identity_;
    PointMaker maker_;
    std::unordered_set<std::uint64_t> seen_;  ///< ids
    std::uint64_t looked_ = 0;
};

}  // namespace

Plan make_plan(const Experiment& experiment, const Simulator& simulator, const PlanOptions& options) {
    return Planner(experiment, simulator, options).make();
}

}  // namespace systole::sweep
