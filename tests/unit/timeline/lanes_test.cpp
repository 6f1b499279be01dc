// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

namespace systole {
namespace {

Span span(const std::string& track, const std::string& name, std::int64_t begin, std::int64_t end) {
    return {track, name, Ticks(begin), Ticks(end), -1};
}

/// "track/number: name name | ..." of all lanes.
std::string text(const std::vector<Lane>& lanes) {
    std::string all;
    for (const Lane& lane : lanes) {
        all += (all.empty() ? "" : " | ") + *lane.track + "/" + std::to_string(lane.number) + ":";
        for (const Span* one : lane.spans) all += " " + one->name;
    }
    return all;
}

bool drawable(const Span& a, const Span& b) {
    const bool apart = a.end <= b.begin || b.end <= a.begin;
    const bool nested = (a.begin <= b.begin && b.end <= a.end) || (b.begin <= a.begin && a.end <= b.end);
    return apart || nested;
}

}  // namespace

TEST_CASE("numbers in names are ordered by value") {
    std::vector<std::string> names{"mxu10", "mxu2", "mxu02", "dma", "mxu", "mxu2.fifo", "mxu2a", "mxu1"};
    std::sort(names.begin(), names.end(), natural_less);
    CHECK(names ==
          std::vector<std::string>{"dma", "mxu", "mxu1", "mxu02", "mxu2", "mxu2.fifo", "mxu2a", "mxu10"});
}

TEST_CASE("spans that follow each other or nest share a lane") {
    const std::vector<Span> spans{span("t", "second", 10, 20), span("t", "inner", 12, 20),
                                  span("t", "first", 0, 10)};
    CHECK(text(make_lanes(spans)) == "t/1: first second inner");
}

TEST_CASE("spans that only overlap go to another lane, and the first is used again when it is free") {
    const std::vector<Span> spans{span("t", "a", 0, 10), span("t", "b", 5, 15), span("t", "c", 7, 17),
                                  span("t", "d", 10, 12)};
    CHECK(text(make_lanes(spans)) == "t/1: a d | t/2: b | t/3: c");
}

TEST_CASE("any spans in any order make the same lanes, each span once, each lane drawable") {
    const auto seed = GENERATE(range(1, 60));
    INFO("seed " << seed);
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    std::vector<Span> spans;
    for (int i = 0; i < 60; ++i) {
        const auto begin = static_cast<std::int64_t>(random() % 50),
                   length = static_cast<std::int64_t>(random() % 20);
        spans.push_back(span(fmt::format("t{}", random() % 3), std::to_string(i), begin, begin + length));
    }
    const std::vector<Lane> lanes = make_lanes(spans);
    std::set<const Span*> seen;
    for (const Lane& lane : lanes) {
        for (std::size_t i = 0; i < lane.spans.size(); ++i) {
            CHECK(seen.insert(lane.spans[i]).second);
            CHECK(lane.spans[i]->track == *lane.track);
            for (std::size_t j = i + 1; j < lane.spans.size(); ++j)
                CHECK(drawable(*lane.spans[i], *lane.spans[j]));
        }
    }
    CHECK(seen.size() == spans.size());

    std::vector<Span> shuffled = spans;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    CHECK(text(make_lanes(shuffled)) == text(lanes));
}

}  // namespace systole
