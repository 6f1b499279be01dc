// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/operand_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace systole::simt;

namespace {

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

Ranges ranges_of(const OperandMap& map, std::int64_t begin, std::int64_t end) {
    Ranges all;
    elements_of(map, begin, end,
                [&](std::int64_t first, std::int64_t last) { all.emplace_back(first, last); });
    return all;
}

/// The element of one result, digit by digit; -1: it has none.
std::int64_t element_of(const OperandMap& map, std::int64_t result) {
    const std::int64_t column = result % map.row;
    if (column < map.first || column >= map.until) return -1;
    std::int64_t left = result / map.row * (map.until - map.first) + column - map.first;
    if (map.dims.empty()) return map.offset + left;
    std::int64_t element = map.offset;
    for (auto dim = map.dims.rbegin(); dim != map.dims.rend(); ++dim) {
        element += left % dim->extent * dim->stride;
        left /= dim->extent;
    }
    return element;
}

}  // namespace

TEST_CASE("Results of a plain map have the elements of their numbers, in one range") {
    CHECK(OperandMap{}.plain());
    CHECK(ranges_of({}, 5, 900) == Ranges{{5, 900}});
    CHECK(ranges_of({}, 7, 7).empty());
}

TEST_CASE("A slice's results lie in runs, a row apart") {
    // Columns 2 to 4 of rows of 10.
    const OperandMap slice{.offset = 2, .dims = {{4, 10}, {3, 1}}};
    CHECK(ranges_of(slice, 0, 12) == Ranges{{2, 5}, {12, 15}, {22, 25}, {32, 35}});
    CHECK(ranges_of(slice, 1, 5) == Ranges{{3, 5}, {12, 14}});
}

TEST_CASE("Of a concatenation's rows an input has some columns") {
    // Rows of 5: two columns of one input, three of the other.
    const OperandMap left{.row = 5, .first = 0, .until = 2}, right{.row = 5, .first = 2, .until = 5};
    CHECK_FALSE(left.plain());
    CHECK(ranges_of(left, 0, 10) == Ranges{{0, 4}});
    CHECK(ranges_of(right, 0, 10) == Ranges{{0, 6}});
    CHECK(ranges_of(right, 3, 6) == Ranges{{1, 3}});
    CHECK(ranges_of(left, 2, 5).empty());
}

TEST_CASE("What is met again and again is named once, as a whole or its end and its begin") {
    const OperandMap again = met_again(60, 10, 1);
    CHECK(ranges_of(again, 0, 60) == Ranges{{0, 10}});
    CHECK(ranges_of(again, 13, 17) == Ranges{{3, 7}});
    CHECK(ranges_of(again, 8, 13) == Ranges{{8, 10}, {0, 3}});
    // Two items of 30 results, which meet five elements of their own.
    const OperandMap items = met_again(60, 10, 2);
    CHECK(ranges_of(items, 28, 33) == Ranges{{3, 5}, {5, 8}});
    CHECK(met_again(60, 60, 1).plain());
}

TEST_CASE("Dimensions that lie one behind the other are one") {
    OperandMap map{.dims = {{2, 60}, {3, 20}, {1, 7}, {4, 5}, {5, 1}}};
    join_dims(map);
    CHECK(map.dims == std::vector<OperandMap::Dim>{{120, 1}});
    OperandMap heads{.dims = {{3, 8}, {2, 24}, {8, 1}}};
    join_dims(heads);
    CHECK(heads.dims.size() == 3);
    OperandMap one{.dims = {{1, 5}, {1, 1}}};
    join_dims(one);
    CHECK(ranges_of(one, 0, 1) == Ranges{{0, 1}});
}

TEST_CASE("Ranges hold the elements that results have one by one, each once") {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        std::mt19937_64 random(seed);
        const auto between = [&](std::int64_t low, std::int64_t high) {
            return std::uniform_int_distribution<std::int64_t>(low, high)(random);
        };
        // Dimensions in any order of storage, some of them met again.
        OperandMap map;
        std::vector<std::int64_t> extents;
        for (std::int64_t i = between(1, 4); i > 0; --i) extents.push_back(between(1, 6));
        std::vector<std::size_t> order(extents.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::shuffle(order, random);
        std::vector<std::int64_t> strides(extents.size());
        std::int64_t stride = 1, results = 1;
        for (const std::size_t dim : order) {
            const bool again = between(0, 3) == 0;
            strides[dim] = again ? 0 : stride;
            if (!again) stride *= extents[dim];
        }
        for (std::size_t i = 0; i < extents.size(); ++i) {
            map.dims.push_back({extents[i], strides[i]});
            results *= extents[i];
        }
        map.offset = between(0, 3);
        if (between(0, 2) == 0) {
            map.first = between(0, 2);
            map.until = map.first + results;
            map.row = map.until + between(0, 2);
            results = map.row;
        }
        if (between(0, 1) == 0) join_dims(map);
        const std::int64_t begin = between(0, results - 1), end = between(begin + 1, results);
        INFO(fmt::format("seed {}: {} dimensions, results {} to {} of {}", seed, map.dims.size(), begin, end,
                         results));
        std::set<std::int64_t> wanted, found;
        for (std::int64_t result = begin; result < end; ++result)
            if (const std::int64_t element = element_of(map, result); element >= 0) wanted.insert(element);
        for (const auto& [first, last] : ranges_of(map, begin, end))
            for (std::int64_t element = first; element < last; ++element) found.insert(element);
        CHECK(found == wanted);
    }
}
