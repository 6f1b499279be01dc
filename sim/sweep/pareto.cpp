// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/pareto.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

namespace systole::sweep {
namespace {

/// `a` is nowhere worse and somewhere better.
bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
    bool better = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] > b[i]) return false;
        better = better || a[i] < b[i];
    }
    return better;
}

/// The least third cost of all points so far whose second is no greater: a staircase that goes down.
class Staircase {
public:
    bool holds_as_good(double second, double third) const {
        const auto above = steps_.upper_bound(second);
        return above != steps_.begin() && std::prev(above)->second <= third;
    }
    /// Of a point that none is as good as.
    void add(double second, double third) {
        auto next = steps_.insert_or_assign(second, third).first;
        for (++next; next != steps_.end() && next->second >= third;) next = steps_.erase(next);
    }

private:
    std::map<double, double> steps_;
};

/// Of one to three objectives; those that a point has not are equal. `order`: sorted by costs.
std::vector<bool> front_of_few(const std::vector<std::vector<double>>& costs,
                               const std::vector<std::size_t>& order) {
    std::vector<bool> on_front(costs.size(), false);
    Staircase before;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::vector<double>& cost = costs[order[i]];
        // Equal points lie side by side, so whoever else is as good is better in something.
        if (i > 0 && costs[order[i - 1]] == cost) {
            on_front[order[i]] = on_front[order[i - 1]];
            continue;
        }
        const double second = cost.size() > 1 ? cost[1] : 0, third = cost.size() > 2 ? cost[2] : 0;
        if (before.holds_as_good(second, third)) continue;
        on_front[order[i]] = true;
        before.add(second, third);
    }
    return on_front;
}

std::vector<bool> front_of_many(const std::vector<std::vector<double>>& costs,
                                const std::vector<std::size_t>& order) {
    std::vector<bool> on_front(costs.size(), false);
    std::vector<std::size_t> front;
    for (const std::size_t point : order) {
        if (std::any_of(front.begin(), front.end(),
                        [&](std::size_t other) { return dominates(costs[other], costs[point]); }))
            continue;
        on_front[point] = true;
        front.push_back(point);
    }
    return on_front;
}

}  // namespace

std::vector<bool> pareto_front(const std::vector<std::vector<double>>& costs) {
    std::vector<std::size_t> order(costs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // In this order nobody is dominated by who comes later.
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
    const bool few = costs.empty() || costs.front().size() <= 3;
    return few ? front_of_few(costs, order) : front_of_many(costs, order);
}

}  // namespace systole::sweep
