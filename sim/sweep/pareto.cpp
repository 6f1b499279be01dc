// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/pareto.h"

#include <algorithm>
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

}  // namespace

std::vector<bool> pareto_front(const std::vector<std::vector<double>>& costs) {
    std::vector<std::size_t> order(costs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
    // In this order nobody is dominated by who comes later. With two objectives the last of the front has the
    // least second cost so far, and decides alone.
    std::vector<bool> on_front(costs.size(), false);
    std::vector<std::size_t> front;
    for (const std::size_t point : order) {
        const auto first = costs[point].size() <= 2 && !front.empty() ? front.end() - 1 : front.begin();
        if (std::any_of(first, front.end(),
                        [&](std::size_t other) { return dominates(costs[other], costs[point]); }))
            continue;
        on_front[point] = true;
        front.push_back(point);
    }
    return on_front;
}

}  // namespace systole::sweep
