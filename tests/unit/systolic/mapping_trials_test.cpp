// SPDX-License-Identifier: Apache-2.0
// Which mappings are kept when runs judge them, with runs that are made up: what each layer costs by each of
// its mappings, and what that does to the layer behind it.
#include "models/devices/systolic/mapping_trials.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <random>

namespace systole::systolic {
namespace {

using Choice = std::vector<std::size_t>;

/// Cycles by layer of a network whose layers have these mappings.
using Cost = std::function<std::vector<std::int64_t>(const Choice&)>;

/// One layer each, with so many mappings.
std::vector<LikeLayers> layers_with(const std::vector<std::size_t>& mappings) {
    std::vector<LikeLayers> all;
    for (std::size_t i = 0; i < mappings.size(); ++i)
        all.push_back({{i}, std::vector<LayerMapping>(mappings[i])});
    return all;
}

TrialTime time_by(const Cost& cost, const Choice& choice) {
    TrialTime time{0, cost(choice)};
    time.run = std::accumulate(time.layers.begin(), time.layers.end(), std::int64_t{0});
    return time;
}

/// All choices that were run, the mapper's own first.
struct Tried {
    Trials trials;
    std::vector<Choice> runs;
};

Tried try_all(
    const std::vector<std::size_t>& mappings, std::size_t most, const Cost& cost,
    const std::function<bool(const Choice&)>& refused = [](const Choice&) { return false; },
    std::int64_t blur = 0) {
    const std::vector<LikeLayers> layers = layers_with(mappings);
    const Choice own(layers.size(), 0);
    Tried tried{{}, {own}};
    tried.trials = try_mappings(layers, time_by(cost, own), most, blur,
                                [&](const Choice& choice) -> std::optional<TrialTime> {
                                    tried.runs.push_back(choice);
                                    if (refused(choice)) return std::nullopt;
                                    return time_by(cost, choice);
                                });
    CHECK(tried.trials.runs == static_cast<int>(tried.runs.size()));
    return tried;
}

/// Layers that leave each other alone.
Cost apart(std::vector<std::vector<std::int64_t>> cycles) {
    return [cycles = std::move(cycles)](const Choice& choice) {
        std::vector<std::int64_t> all;
        for (std::size_t i = 0; i < choice.size(); ++i) all.push_back(cycles[i][choice[i]]);
        return all;
    };
}

Layer named(const std::string& name, std::optional<BatchSlice> slice = {}) {
    Layer layer;
    layer.name = name;
    layer.op = MatMul{};
    layer.slice = std::move(slice);
    return layer;
}

/// The n-th mapping of somebody.
LayerMapping mapping(std::int64_t rows) {
    LayerMapping one;
    one.rows = rows;
    return one;
}

}  // namespace

TEST_CASE("Of a single layer every mapping is run once, and the fastest is kept") {
    const Tried tried = try_all({4}, 8, apart({{100, 120, 90, 95}}));
    CHECK(tried.runs == std::vector<Choice>{{0}, {1}, {2}, {3}});
    CHECK(tried.trials.choice == Choice{2});
    CHECK(tried.trials.own == 100);
    CHECK(tried.trials.best == 90);
}

TEST_CASE("No more mappings of a layer are run than are asked for") {
    const Tried tried = try_all({4}, 2, apart({{100, 120, 90, 95}}));
    CHECK(tried.runs == std::vector<Choice>{{0}, {1}});
    CHECK(tried.trials.choice == Choice{0});
}

TEST_CASE("Layers that leave each other alone each keep their fastest mapping") {
    const Cost cost = apart({{100, 90, 80}, {100, 110, 99}, {50, 60, 70}, {200, 150, 160}});
    const Tried tried = try_all({3, 3, 3, 3}, 3, cost);
    CHECK(tried.trials.choice == Choice{2, 2, 0, 1});
    CHECK(tried.trials.best == 80 + 99 + 50 + 150);
    // Every second layer with its second mapping, the others, and what came out; the same with the third.
    CHECK(tried.runs.size() == 7);
}

TEST_CASE("Trials end where no layer has another mapping") {
    CHECK(try_all({1, 1}, 8, apart({{10}, {20}})).runs.size() == 1);
    CHECK(try_all({}, 8, apart({})).runs.size() == 1);
    // The second layer has one more, the first none: no run is made twice.
    const Tried tried = try_all({1, 2}, 8, apart({{10}, {20, 15}}));
    CHECK(tried.runs == std::vector<Choice>{{0, 0}, {0, 1}});
    CHECK(tried.trials.choice == Choice{0, 1});
}

TEST_CASE("Of mappings that are equally fast the mapper's own is kept, then the first") {
    CHECK(try_all({3}, 8, apart({{100, 100, 100}})).trials.choice == Choice{0});
    CHECK(try_all({3}, 8, apart({{100, 90, 90}})).trials.choice == Choice{1});
    CHECK(try_all({3, 1}, 8, apart({{100, 100, 100}, {5}})).trials.choice == Choice{0, 0});
}

TEST_CASE("What a layer leaves for the one behind it to wait for is counted against it") {
    // The first layer's second mapping takes 30 cycles less and costs the next layer 50.
    const Cost cost = [](const Choice& choice) {
        return std::vector<std::int64_t>{choice[0] == 1 ? 70 : 100, choice[0] == 1 ? 150 : 100, 100};
    };
    CHECK(try_all({2, 2, 2}, 2, cost).trials.choice == Choice{0, 0, 0});
}

TEST_CASE("What a layer does for the one behind it is counted for it") {
    const Cost cost = [](const Choice& choice) {
        return std::vector<std::int64_t>{choice[0] == 1 ? 110 : 100, choice[0] == 1 ? 50 : 100, 100};
    };
    CHECK(try_all({2, 1, 1}, 2, cost).trials.choice == Choice{1, 0, 0});
}

TEST_CASE("Where the winners together are slower than the mapper's own mappings, these are kept") {
    // Either change alone saves 10 cycles, both together cost 100.
    const Cost cost = [](const Choice& choice) {
        std::vector<std::int64_t> cycles{choice[0] == 1 ? 90 : 100, 100, 100, choice[3] == 1 ? 90 : 100};
        if (choice[0] == 1 && choice[3] == 1) cycles[2] += 100;
        return cycles;
    };
    const Tried tried = try_all({2, 1, 1, 2}, 2, cost);
    CHECK(tried.runs.back() == Choice{1, 0, 0, 1});
    CHECK(tried.trials.choice == Choice{1, 0, 0, 0});
    CHECK(tried.trials.best == 390);
}

TEST_CASE("A run that is refused counts for nothing, and others go on") {
    const Tried tried = try_all({3}, 3, apart({{100, 10, 90}}), [](const Choice& c) { return c[0] == 1; });
    CHECK(tried.runs.size() == 3);
    CHECK(tried.trials.refused == 1);
    CHECK(tried.trials.choice == Choice{2});
    CHECK(tried.trials.best == 90);
}

TEST_CASE("A run has to be faster by more than any may be off") {
    const auto never = [](const Choice&) { return false; };
    CHECK(try_all({3}, 3, apart({{100, 95, 92}}), never, 8).trials.choice == Choice{0});
    CHECK(try_all({3}, 3, apart({{100, 95, 91}}), never, 8).trials.choice == Choice{2});
}

TEST_CASE("No run is made twice, and what is kept is the fastest run of all") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto pick = [&](std::int64_t low, std::int64_t high) {
            return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
        };
        std::vector<std::size_t> mappings(static_cast<std::size_t>(pick(1, 7)));
        for (std::size_t& count : mappings) count = static_cast<std::size_t>(pick(1, 6));
        std::vector<std::vector<std::int64_t>> cycles, echo;
        for (const std::size_t count : mappings) {
            cycles.emplace_back();
            echo.emplace_back();
            for (std::size_t i = 0; i < count; ++i)
                cycles.back().push_back(pick(500, 1000)), echo.back().push_back(pick(-400, 400));
        }
        const Cost cost = [&](const Choice& choice) {
            std::vector<std::int64_t> all;
            for (std::size_t i = 0; i < choice.size(); ++i)
                all.push_back(cycles[i][choice[i]] + (i > 0 ? echo[i - 1][choice[i - 1]] : 0));
            return all;
        };
        const auto most = static_cast<std::size_t>(pick(1, 8));
        const Tried tried = try_all(mappings, most, cost);
        std::int64_t least = tried.trials.own;
        for (std::size_t i = 0; i < tried.runs.size(); ++i) {
            least = std::min(least, time_by(cost, tried.runs[i]).run);
            for (std::size_t j = 0; j < i; ++j) CHECK(tried.runs[i] != tried.runs[j]);
        }
        CHECK(tried.trials.best == least);
        CHECK(time_by(cost, tried.trials.choice).run == least);
        CHECK(tried.runs.size() <= 1 + 3 * (most - 1));
        CHECK(try_all(mappings, most + 1, cost).trials.best <= tried.trials.best);
    }
}

TEST_CASE("Turns of a block share a mapping, but for the first; parts of the batch do") {
    Graph graph;
    for (const char* name : {"in", "b.0.x", "b.0.y", "b.1.x", "b.1.y", "b.2.x", "b.2.y"})
        graph.layers.push_back(named(name));
    graph.layers.push_back(named("out.0", BatchSlice{"out", 0, 2}));
    graph.layers.push_back(named("out.1", BatchSlice{"out", 1, 2}));
    graph.blocks.push_back({"b", 1, 2, 0, 0, 3});
    // Of the turns, only the third was simulated; nobody has mapped "in" and the first turn's y.
    const LayerVariants variants{{"b.0.x", {mapping(1), mapping(2)}},
                                 {"b.2.x", {mapping(3), mapping(4), mapping(5)}},
                                 {"b.1.y", {mapping(6)}},
                                 {"out", {mapping(7), mapping(8)}}};
    const std::vector<LikeLayers> layers = like_layers(graph, variants);
    REQUIRE(layers.size() == 4);
    CHECK(layers[0].layers == std::vector<std::size_t>{1});
    CHECK(layers[1].layers == std::vector<std::size_t>{3, 5});
    CHECK(layers[1].to_try.at(2).rows == 5);
    CHECK(layers[2].layers == std::vector<std::size_t>{4, 6});
    CHECK(layers[3].layers == std::vector<std::size_t>{7, 8});

    const LayerMappings chosen = mappings_of(graph, layers, {0, 2, 0, 1});
    REQUIRE(chosen.size() == 3);
    CHECK(chosen.at("b.1.x").rows == 5);
    CHECK(chosen.at("b.2.x").rows == 5);
    CHECK(chosen.at("out").rows == 8);
}

}  // namespace systole::systolic
