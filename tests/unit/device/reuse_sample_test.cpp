// SPDX-License-Identifier: Apache-2.0
// Reuse of blocks whose turns differ by chance, on a make-believe device.
#include "sim/device/reuse.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "sim/base/error.h"
#include "tests/unit/device/pretence.h"

using namespace systole;
using namespace systole::test;

namespace {

/// Each is a row of its own.
std::vector<std::size_t> each_layer(const Graph& graph) {
    return std::vector<std::size_t>(graph.layers.size(), 1);
}

}  // namespace

TEST_CASE("behind a cache, bytes of the memory may move between layers") {
    const Graph graph = network(80);
    const auto reused = [&](const TurnRule& rule, std::int64_t moved) {
        Pretence device{[](const std::string&) { return 1000; }};
        device.bytes_of = [=](const std::string& layer) -> std::int64_t {
            if (!layer.starts_with("block.")) return 50'000;
            // From turn to turn 0, 1, 4, 2, 2, 4, 1: nor do rounds of up to four agree.
            const std::int64_t turn = std::stoi(layer.substr(6)), more = turn * turn % 7 * moved;
            return layer.ends_with(".a") ? 50'000 + more : 50'000 - more;
        };
        const auto result = run_reusing(graph, std::cref(device), {.rule = rule});
        if (result) CHECK(result->total.dram_read == device.whole(graph).total.dram_read);
        return result.has_value();
    };
    CHECK(reused(kByChance, 10'000));
    CHECK(reused(kInRounds, 0));
    CHECK_FALSE(reused(kInRounds, 1));
}

TEST_CASE("turns that differ by chance are a sample, as large as what they differ by asks for") {
    const Graph graph = network(400);
    // Times or bytes of a turn are spread evenly by `width` around 100,000, in an order that no rule has.
    const auto run = [&](std::int64_t width, bool bytes) {
        const auto by_chance = [=](const std::string& layer) -> std::int64_t {
            if (!layer.starts_with("block.") || !layer.ends_with(".a")) return 50'000;
            std::uint64_t x = static_cast<std::uint64_t>(std::stoi(layer.substr(6))) + 0x9E3779B97F4A7C15U;
            x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
            x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
            return 50'000 - width / 2 +
                   static_cast<std::int64_t>((x >> 31) % static_cast<std::uint64_t>(width));
        };
        Pretence device{[](const std::string&) { return 50'000; }};
        device.jitter = Ticks(1000);  // that a layer may differ by so much
        (bytes ? device.bytes_of : device.ticks) = by_chance;
        const auto result =
            run_sampling(graph, each_layer(graph), std::bind_front(&Pretence::sample, std::cref(device)));
        if (result) {
            const ResultRow whole = device.whole(graph).total;
            CHECK(std::abs((result->total.end - whole.end).value()) <= whole.end.value() / 500);
            CHECK(std::abs((result->total.dram_read - whole.dram_read).value()) <=
                  whole.dram_read.value() / 500);
        }
        return std::pair(result.has_value(), device.layers_run);
    };
    using Runs = std::vector<std::size_t>;
    for (const bool bytes : {false, true}) {
        // A deviation of 0.03 % of a turn: of eleven turns the run goes on with seven, four of which are a
        // sample.
        CHECK(run(100, bytes) == std::pair(true, Runs{2 + 2 * 11, 2 + 2 * 7}));
        // 0.58 % want (2.33 x 0.58 / 0.2)^2 = 46 turns.
        const auto [some, runs] = run(2000, bytes);
        CHECK(some);
        REQUIRE(runs.size() >= 2);
        CHECK(std::ranges::is_sorted(runs) == !bytes);  // which are seen at the end only
        CHECK(runs.back() >= 2 + 2 * (3 + 23));
        CHECK(runs.back() <= 2 + 2 * (3 + 92));
    }
    // Thousands: the run that was to have eleven goes on with all.
    CHECK(run(40'000, false) == std::pair(true, Runs{2 + 2 * 11, 2 + 2 * 400}));
}

TEST_CASE("a rough sample is as large as it takes to know all turns to a 100th") {
    const Graph graph = network(400);
    std::vector<std::size_t> largest;
    for (const std::int64_t width : {1'000, 8'000}) {  // evenly spread around 100,000: 0.29 and 2.3 %
        std::mt19937_64 dice(static_cast<std::uint64_t>(width));
        std::vector<std::int64_t> turns(400);
        for (std::int64_t& turn : turns)
            turn = 50'000 - width / 2 + static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(width));
        const Pretence device{[&](const std::string& layer) -> std::int64_t {
            if (!layer.starts_with("block.") || !layer.ends_with(".a")) return 50'000;
            return turns[static_cast<std::size_t>(std::stoi(layer.substr(6)))];
        }};
        const auto result = run_reusing(graph, std::cref(device), {.rule = kRoughly, .at_first = 4});
        REQUIRE(result);
        const Ticks whole = device.whole(graph).total.end;
        CHECK(std::abs((result->total.end - whole).value()) <= whole.value() / 100);
        CHECK(result->total.end != whole);
        largest.push_back(std::ranges::max(device.layers_run));
    }
    CHECK(largest.front() == 2 + 2 * 7);
    // (2.29 x 2.3 / 1)^2 = 28 turns.
    CHECK(largest.back() > 2 + 2 * (3 + 14));
    CHECK(largest.back() < 2 + 2 * (3 + 42));
}

TEST_CASE("a result says by how much a sample of turns leaves it uncertain in 19 of 20 cases") {
    const std::vector<std::int64_t> more{0, 0, 60, 20, 40};
    const Pretence device{[&more](const std::string& layer) -> std::int64_t {
        if (!layer.starts_with("block.") || !layer.ends_with(".a")) return 50'000;
        const auto turn = static_cast<std::size_t>(std::stoi(layer.substr(6)));
        return 50'000 + (turn < more.size() ? more[turn] : 0);
    }};
    const auto result = run_reusing(network(40), std::cref(device), {.rule = kByChance, .at_first = 4});
    REQUIRE(result);
    REQUIRE(device.layers_run == std::vector<std::size_t>{2 + 2 * 7});
    REQUIRE(result->reuse);
    CHECK(result->reuse->by_chance);
    // 4.3748 is Student's t of three degrees that is passed in 2.21 of 100 cases; four turns with a standard
    // deviation of 25.82 stand for 33: 4.3748 x 25.82 x sqrt(33^2 / 4 + 33).
    CHECK(result->reuse->off == Ticks(1973));
}

TEST_CASE("turns that do not agree are judged by the other rule, without a run anew") {
    const Graph graph = network(80);
    const ReuseRules rules{.at_first = 4};
    const auto run = [&](std::int64_t more) {
        Pretence device{[=](const std::string& layer) {
            // From turn to turn 0, 1, 8, 5, 9, 4, 7, 2, 6, 3, 10: rounds of up to four do not agree.
            const int turn = layer.starts_with("block.") ? std::stoi(layer.substr(6)) : 0;
            return 50'000 + turn * turn * turn % 11 * more;
        }};
        std::optional<Reused> reused = run_reusing_or(graph, std::cref(device), rules, kRoughly);
        REQUIRE(reused);
        const Ticks whole = device.whole(graph).total.end;
        CHECK(std::abs((reused->result.total.end - whole).value()) <= whole.value() / reused->rule.promise);
        return std::pair(reused->rule.promise, device.layers_run);
    };
    using Runs = std::vector<std::size_t>;
    CHECK(run(0) == std::pair(kInRounds.promise, Runs{2 + 2 * 7}));
    // Up to 1,000 more in 100,000: four of them tell the mean to 1 %.
    CHECK(run(50) == std::pair(kRoughly.promise, Runs{2 + 2 * 7}));
    // Up to 4,000: behind the first run one with more turns, which are no longer judged by the first rule.
    const auto [promise, runs] = run(200);
    CHECK(promise == kRoughly.promise);
    REQUIRE(runs.size() >= 2);
    CHECK(runs.front() == 2 + 2 * 7);
    CHECK(runs[1] > runs.front());
}

TEST_CASE("a sample of turns that are equal makes the whole network's result") {
    const Graph graph = network(40);
    const Pretence device{[](const std::string& layer) { return layer.ends_with(".b") ? 500 : 300; }};
    const auto result =
        run_sampling(graph, each_layer(graph), std::bind_front(&Pretence::sample, std::cref(device)));
    REQUIRE(result);
    check_equal(*result, device.whole(graph));
    CHECK(device.layers_run == std::vector<std::size_t>{2 + 2 * 11, 2 + 2 * 7});
    CHECK(reused_rows(*result) == 2 * (40 - 7));
}

TEST_CASE("a sample of two blocks is not cut short") {
    const Graph graph = blocks_of({20, 20});
    const Pretence device{[](const std::string& layer) { return layer.starts_with("block0") ? 500 : 300; }};
    const auto result =
        run_sampling(graph, each_layer(graph), std::bind_front(&Pretence::sample, std::cref(device)));
    REQUIRE(result);
    check_equal(*result, device.whole(graph));
    CHECK(device.layers_run == std::vector<std::size_t>{1 + 2 * 11});
}

TEST_CASE("a run whose turns stand for no others goes on with all of them, unless another block was cut") {
    const Graph graph = network(40);
    Pretence device{[](const std::string& layer) { return layer.ends_with(".b") ? 500 : 300; }};
    device.alike = false;
    const auto result =
        run_sampling(graph, each_layer(graph), std::bind_front(&Pretence::sample, std::cref(device)));
    REQUIRE(result);
    check_equal(*result, device.whole(graph));
    CHECK(reused_rows(*result) == 0);
    CHECK_FALSE(result->reuse);
    CHECK(device.layers_run == std::vector<std::size_t>{2 + 2 * 11, 2 + 2 * 40});
    // When the second block begins, turns of the first one are missing.
    const Graph two = blocks_of({20, 20});
    Pretence of_two{[](const std::string&) { return 300; }};
    of_two.alike = false;
    CHECK_FALSE(run_sampling(two, each_layer(two), std::bind_front(&Pretence::sample, std::cref(of_two))));
    CHECK(of_two.layers_run == std::vector<std::size_t>{1 + 2 * 11});
}
