// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/pareto.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

using namespace systole::sweep;

namespace {

using Costs = std::vector<std::vector<double>>;

/// Word for word: no other is at least as good in everything and better in something.
std::vector<bool> slow_front(const Costs& costs) {
    std::vector<bool> front(costs.size(), true);
    for (std::size_t i = 0; i < costs.size(); ++i)
        for (std::size_t j = 0; j < costs.size(); ++j) {
            bool as_good = true, better = false;
            for (std::size_t k = 0; k < costs[i].size(); ++k) {
                as_good = as_good && costs[j][k] <= costs[i][k];
                better = better || costs[j][k] < costs[i][k];
            }
            if (as_good && better) front[i] = false;
        }
    return front;
}

}  // namespace

TEST_CASE("the front of a few points is what one sees", "[pareto]") {
    CHECK(pareto_front({}).empty());
    CHECK(pareto_front({{3}}) == std::vector<bool>{true});
    CHECK(pareto_front({{3}, {1}, {2}, {1}}) == std::vector<bool>{false, true, false, true});
    CHECK(pareto_front({{1, 9}, {2, 5}, {2, 6}, {3, 5}, {9, 1}}) ==
          std::vector<bool>{true, true, false, false, true});
    CHECK(pareto_front({{1, 1}, {1, 1}}) == std::vector<bool>{true, true});
    CHECK(pareto_front({{-1, 0}, {-2, 0}}) == std::vector<bool>{false, true});
}

TEST_CASE("negative zero is zero, and huge costs compare", "[pareto]") {
    const double huge = std::numeric_limits<double>::max();
    CHECK(pareto_front({{0.0, 1}, {-0.0, 1}, {-0.0, 2}, {0.0, 2}}) ==
          std::vector<bool>{true, true, false, false});
    CHECK(pareto_front({{huge, -huge}, {-huge, huge}, {huge, huge}}) == std::vector<bool>{true, true, false});
}

TEST_CASE("fronts of random points are those that a comparison of all pairs finds", "[pareto]") {
    for (unsigned seed = 1; seed <= 1000; ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const std::size_t objectives = 1 + random() % 5, points = random() % 60;
        const unsigned range = 1 + random() % 12;  // few values: many ties
        Costs costs(points, std::vector<double>(objectives));
        for (auto& cost : costs)
            for (double& each : cost) each = static_cast<double>(random() % range) - 5;
        REQUIRE(pareto_front(costs) == slow_front(costs));
    }
}

TEST_CASE("two objectives of many points take little time", "[pareto]") {
    Costs costs;
    for (int i = 0; i < 100'000; ++i) costs.push_back({static_cast<double>(i), static_cast<double>(-i)});
    const std::vector<bool> front = pareto_front(costs);
    CHECK(std::count(front.begin(), front.end(), true) == 100'000);
}

TEST_CASE("three objectives of many points take little time", "[pareto]") {
    // What one of a plane of equal sums has less of than another, it has more of elsewhere; {5, 5, -9} lies
    // behind.
    Costs costs;
    for (int i = 0; i < 100'000; ++i) {
        const double a = i % 317, b = std::floor(i / 317.0);
        costs.push_back({a, b, -a - b});
    }
    costs.push_back({5, 5, -9});
    costs.push_back({5, 5, -10});
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<bool> front = pareto_front(costs);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));  // of pairs: most of a minute
    CHECK(std::count(front.begin(), front.end(), true) == 100'001);
    CHECK_FALSE(front[100'000]);
}
