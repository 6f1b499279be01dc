// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sampling.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using namespace systole;
using namespace systole::sweep;

namespace {

/// Axes of that many values; 0: a span.
std::vector<Axis> axes_of(const std::vector<std::size_t>& sizes) {
    std::vector<Axis> axes;
    for (const std::size_t size : sizes) {
        Axis axis;
        axis.columns.emplace_back();
        axis.columns[0].values.resize(size);
        axis.columns[0].places.resize(size);
        if (size == 0) axis.span = Span{"0.0", "1.0"};
        axes.push_back(std::move(axis));
    }
    return axes;
}

using Sequence = std::vector<std::vector<std::pair<std::size_t, double>>>;

Sequence take(const std::vector<Axis>& axes, const Sample& sample, std::size_t most) {
    Combinations combinations(axes, sample);
    Sequence all;
    for (std::vector<AxisPlace> places; all.size() < most && combinations.next(places);) {
        all.emplace_back();
        for (const AxisPlace& place : places) all.back().emplace_back(place.index, place.share);
    }
    return all;
}

}  // namespace

TEST_CASE("a grid goes through every combination, its last axis first", "[sampling]") {
    const std::vector<Axis> axes = axes_of({2, 1, 3});
    Sequence expected;
    for (std::size_t a = 0; a < 2; ++a)
        for (std::size_t c = 0; c < 3; ++c) expected.push_back({{a, 0}, {0, 0}, {c, 0}});
    CHECK(take(axes, {}, 100) == expected);
    CHECK(Combinations::of_grid(axes) == 6U);
}

TEST_CASE("a grid that is at its end stays there", "[sampling]") {
    const std::vector<Axis> axes = axes_of({2});
    Combinations combinations(axes, {});
    std::vector<AxisPlace> places;
    CHECK(combinations.next(places));
    CHECK(combinations.next(places));
    CHECK_FALSE(combinations.next(places));
    CHECK_FALSE(combinations.next(places));
}

TEST_CASE("no axes are one combination", "[sampling]") {
    const std::vector<Axis> none;
    CHECK(take(none, {}, 9).size() == 1);
    CHECK(Combinations::of_grid(none) == 1U);
}

TEST_CASE("a grid that leaves 64 bits has no number", "[sampling]") {
    CHECK(Combinations::of_grid(axes_of({1 << 16, 1 << 16, 1 << 16, 1 << 15})) == std::uint64_t{1} << 63);
    CHECK_FALSE(Combinations::of_grid(axes_of({1 << 16, 1 << 16, 1 << 16, 1 << 16})));
}

TEST_CASE("every axis of a Latin hypercube has each stratum once", "[sampling]") {
    for (const std::int64_t count : {1, 2, 7, 64, 1000})
        for (const std::uint64_t seed : {0, 1, 99}) {
            INFO("count " << count << ", seed " << seed);
            const std::vector<Axis> axes = axes_of({0, 0, static_cast<std::size_t>(count), 0});
            const Sequence all = take(axes, {Sample::Method::LatinHypercube, count, seed}, 10'000);
            REQUIRE(all.size() == static_cast<std::size_t>(count));
            for (std::size_t axis = 0; axis < axes.size(); ++axis) {
                std::set<std::int64_t> strata, indices;
                for (const auto& each : all) {
                    REQUIRE(each[axis].second >= 0);
                    REQUIRE(each[axis].second < 1);
                    strata.insert(static_cast<std::int64_t>(each[axis].second * static_cast<double>(count)));
                    indices.insert(static_cast<std::int64_t>(each[axis].first));
                }
                CHECK(strata.size() == all.size());
                CHECK(indices.size() == (axis == 2 ? all.size() : 1));
            }
        }
}

TEST_CASE("a Latin hypercube takes each value of a list equally often", "[sampling]") {
    const Sequence all = take(axes_of({4}), {Sample::Method::LatinHypercube, 12, 5}, 100);
    std::vector<int> times(4);
    for (const auto& each : all) ++times[each[0].first];
    CHECK(times == std::vector<int>{3, 3, 3, 3});
}

TEST_CASE("axes of a Latin hypercube are in orders of their own", "[sampling]") {
    const Sequence all = take(axes_of({0, 0}), {Sample::Method::LatinHypercube, 100, 1}, 100);
    int equal = 0, in_order = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto stratum = [&](std::size_t axis) {
            return static_cast<std::size_t>(all[i][axis].second * 100);
        };
        equal += stratum(0) == stratum(1);
        in_order += stratum(0) == i;
    }
    CHECK(equal < 10);
    CHECK(in_order < 10);
}

TEST_CASE("random samples are the generator's first numbers", "[sampling]") {
    std::mt19937_64 random(17);
    const Sequence all = take(axes_of({0, 10}), {Sample::Method::Random, 50, 17}, 50);
    REQUIRE(all.size() == 50);
    for (const auto& each : all) {
        const double first = static_cast<double>(random() >> 11) / 9007199254740992.0;
        const double second = static_cast<double>(random() >> 11) / 9007199254740992.0;
        CHECK(each[0].second == first);
        CHECK(each[1].first == static_cast<std::size_t>(second * 10));
    }
}

TEST_CASE("the generator is the one that the standard fixes", "[sampling]") {
    std::mt19937_64 random;
    random.discard(9999);
    CHECK(random() == 9981545732273789042U);
}

TEST_CASE("equal seeds give equal samples and others give others", "[sampling]") {
    const std::vector<Axis> axes = axes_of({0, 5, 3});
    for (const auto method : {Sample::Method::Random, Sample::Method::LatinHypercube}) {
        const Sequence first = take(axes, {method, 40, 3}, 40);
        CHECK(first == take(axes, {method, 40, 3}, 40));
        CHECK(first != take(axes, {method, 40, 4}, 40));
    }
}

TEST_CASE("random samples do not end", "[sampling]") {
    CHECK(take(axes_of({2}), {Sample::Method::Random, 3, 1}, 100).size() == 100);
}
