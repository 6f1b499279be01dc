// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "sim/base/mistakes.h"
#include "sim/base/text.h"
#include "sim/sweep/name_check.h"
#include "sim/sweep/point_identity.h"
#include "sim/sweep/point_maker.h"
#include "sim/sweep/value_check.h"

namespace systole::sweep {
namespace {

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
        Mistakes mistakes;
        refuse_taken_names(mistakes);
        maker_.leave_out(check_names(experiment_, identity_, mistakes));
        check_objectives(mistakes);
        check_values(experiment_, simulator_, identity_, maker_, mistakes);
        mistakes.throw_if_any();
        Plan plan{Manifest(maker_.columns())};
        for (const Reference& device : experiment_.devices)
            for (const Reference& trace : experiment_.traces) enumerate(device.name, trace.name, plan);
        if (plan.manifest.size() == 0)
            throw UserError(
                experiment_.where.empty() ? SourceMark{} : experiment_.where.front().formula.where(),
                fmt::format("'where' excludes all {} combinations; no point is left",
                            with_thousands(static_cast<std::int64_t>(plan.excluded))));
        return plan;
    }

private:
    /// Devices and traces that are there and sound, before anything is said about their keys.
    void check_references() {
        Mistakes mistakes;
        const auto check = [&](const Reference& reference, const auto& resolve) {
            try {
                resolve(reference.name, std::vector<Setting>());
            } catch (const UserError& error) {
                for (Diagnostic each : error.diagnostics()) {
                    if (each.where.file.empty()) each.where = reference.where;
                    mistakes.add(each.where, std::move(each.message));
                }
            }
        };
        for (const Reference& device : experiment_.devices) check(device, simulator_.device);
        for (const Reference& trace : experiment_.traces) check(trace, simulator_.trace);
        mistakes.throw_if_any();
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
    void refuse_taken_names(Mistakes& mistakes) const {
        std::vector<std::string> taken{"id", "device", "trace", "status", "error", "pareto"};
        for (const MetricKind& metric : simulator_.metrics) taken.push_back(metric.name);
        for (const Derived& derived : experiment_.derived)
            if (std::find(taken.begin(), taken.end(), derived.name) != taken.end())
                mistakes.add(derived.where, fmt::format("'{}' is the name of a column that results have; "
                                                        "give the derived value another",
                                                        derived.name));
    }

    void check_objectives(Mistakes& mistakes) {
        std::vector<std::string> known;
        for (const MetricKind& metric : simulator_.metrics)
            if (metric.is_number) known.push_back(metric.name);
        for (const std::string& column : maker_.columns())
            known.push_back(column.substr(column.rfind(':') + 1));
        for (const Objective& objective : experiment_.objectives)
            for (const std::string& name : objective.formula.names())
                if (std::find(known.begin(), known.end(), name) == known.end())
                    mistakes.add(
                        objective.formula.where(),
                        fmt::format("'{}' is no figure of a result and no column of this sweep{}", name,
                                    is_key(name) ? fmt::format("; 'derive: {{NAME: {}}}' makes one "
                                                               "of a key",
                                                               name)
                                                 : did_you_mean(name, known)));
    }

    bool is_key(const std::string& name) {
        return identity_.value(experiment_.devices.front().name, experiment_.traces.front().name, name, {})
            .has_value();
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
            if (!draft.wanted) {
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
