// SPDX-License-Identifier: Apache-2.0
// Runs that get more turns on the way, on a make-believe device.
#include "sim/device/growing_turns.h"

#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

#include "sim/device/reuse.h"
#include "tests/unit/device/pretence.h"

using namespace systole;
using namespace systole::test;

namespace {

/// Blocks of one layer a turn, and a layer behind them.
struct Growing {
    Growing(const std::vector<int>& turns, Pretence pretence) : graph(blocks_of(turns)), device(pretence) {
        for (const Layer& layer : graph.layers) equal.names.push_back(layer.name);
        for (const RepeatedBlock& block : graph.blocks)
            equal.blocks.push_back({block.first_layer, block.layers, block.turns});
    }

    MarkedRun run(const TurnsLeft& left) const { return device(shorten(graph, left.turns), left.marks); }

    /// Where turns begin so many ahead, though `told` is said.
    std::optional<DeviceResult> result(std::size_t ahead, std::size_t told) {
        const RunTurns at_first = [&](const auto& turns, const auto& marks) {
            ++ran_at_first;
            return device(shorten(graph, turns), marks);
        };
        return run_growing(equal, at_first, {told, device.jitter, device.refreshes, few_agree},
                           [&](const TurnsLeft& first, const HowManyTurns& how_many) {
                               left = first;
                               ++grew;
                               for (std::size_t met = 1; met <= left.marks.size(); ++met) {
                                   const MarkedRun now = run(left);
                                   const std::vector<Mark> marks(
                                       now.marks.begin(),
                                       now.marks.begin() + static_cast<std::ptrdiff_t>(met));
                                   if (auto other = how_many(marks, begun(marks.back().layers + ahead)))
                                       left = *std::move(other);
                               }
                               return run(left);
                           });
    }
    /// Turns of each block among the first `layers` layers, one for each.
    std::vector<std::size_t> begun(std::size_t layers) const {
        std::vector<std::size_t> begun;
        for (const std::size_t turns : left.turns) {
            begun.push_back(std::min(layers, turns));
            layers -= begun.back();
        }
        return begun;
    }
    std::size_t simulated() const {
        return std::accumulate(left.turns.begin(), left.turns.end(), std::size_t{0});
    }

    Graph graph;
    Pretence device;
    EqualTurns equal{};
    TurnsLeft left{};
    bool few_agree = true;
    int grew = 0, ran_at_first = 0;
};

std::int64_t turn_of(const std::string& layer) {
    return std::stoi(layer.substr(layer.find('.') + 1));
}

/// 0 to 10, by no rule.
std::int64_t no_order(std::int64_t turn) {
    auto x = static_cast<std::uint64_t>(turn) + 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return static_cast<std::int64_t>((x >> 31) % 11);
}

}  // namespace

TEST_CASE("turns of which the first few agree get no more") {
    Growing growing({40, 20}, {[](const std::string&) { return 1000; }});
    const auto result = growing.result(3, 3);
    REQUIRE(result);
    CHECK(growing.grew == 0);
    CHECK(growing.device.layers_run == std::vector<std::size_t>{5 + 5 + 1});
    check_equal(*result, growing.device.whole(growing.graph));
}

TEST_CASE("short turns get as many as a refresh asks for that nobody saw, and those that have begun") {
    // A turn takes 10,000, a refresh 200: a thousandth of 20 turns.
    Pretence device{[](const std::string&) { return 10'000; }};
    device.jitter = Ticks(200);
    Growing growing({100}, device);
    const auto result = growing.result(3, 3);
    REQUIRE(result);
    CHECK(growing.grew == 1);
    // The first turn is not marked, 20 are, three have begun behind them, and the last two.
    CHECK(growing.left.turns == std::vector<std::size_t>{1 + 20 + 3 + 2});
    CHECK(growing.left.marked == std::vector<std::size_t>{1 + 20});
    CHECK(reused_rows(*result) == 100 - 26);
    CHECK(result->layers[21].reused);
    CHECK_FALSE(result->layers[20].reused);
    CHECK_FALSE(result->layers[95].reused);  // it had begun
    check_equal(*result, growing.device.whole(growing.graph));
}

TEST_CASE("each block gets what it asks for by itself") {
    // Turns of the second block differ by a fiftieth, in no order; those of the third settle late.
    Pretence device{[](const std::string& layer) -> std::int64_t {
        if (layer.starts_with("block1")) return 10'000 + 20 * no_order(turn_of(layer));
        if (layer.starts_with("block2")) return 10'000 - 200 * std::max<std::int64_t>(7 - turn_of(layer), 0);
        return 10'000;
    }};
    device.jitter = Ticks(50);
    Growing growing({60, 200, 60}, device);
    const auto result = growing.result(2, 2);
    REQUIRE(result);
    const auto& turns = growing.left.turns;
    CHECK(turns[0] == 1 + 6 + 2 + 2);
    CHECK(turns[1] > turns[0]);
    CAPTURE(turns[1]);
    CHECK(turns[1] < 100);
    CHECK(turns[2] > turns[0]);
    CHECK(turns[2] < 40);
    const Ticks whole = growing.device.whole(growing.graph).total.end;
    CHECK(std::abs((result->total.end - whole).value()) <= whole.value() / 1000);
}

TEST_CASE("turns that never agree are all simulated, once beside the first few") {
    Growing growing({50}, {[](const std::string& layer) {
                        return layer.starts_with("block") ? 1000 + 100 * turn_of(layer) : 1000;
                    }});
    const auto result = growing.result(2, 2);
    REQUIRE(result);
    CHECK(growing.grew == 1);
    CHECK(growing.simulated() == 50);
    CHECK(reused_rows(*result) == 0);
    check_equal(*result, growing.device.whole(growing.graph));
}

TEST_CASE("a block too short for a refresh more or less at its ends is simulated to its end") {
    // Refreshes of 60 at both ends are more than a thousandth of 100 turns of 1,000, but not of all that
    // runs.
    Pretence device{[](const std::string& layer) { return layer.starts_with("block0.") ? 1000 : 30'000; }};
    device.jitter = Ticks(60);
    Growing growing({100}, device);
    const auto result = growing.result(2, 2);
    REQUIRE(result);
    CHECK(growing.simulated() == 100);
    check_equal(*result, growing.device.whole(growing.graph));
}

TEST_CASE("nothing is known of a run so short that refreshes at the ends of its block are too much") {
    // 2 x 60 are more than a thousandth of 100 turns of 1,000.
    Pretence device{[](const std::string&) { return 1000; }};
    device.jitter = Ticks(60);
    Growing growing({100}, device);
    CHECK_FALSE(growing.result(2, 2));
    CHECK(growing.grew == 0);
}

TEST_CASE("turns that differ by refreshes alone get as many as a window of them takes") {
    // Turns of 9,000, held up for 260 whenever a refresh falls due, every 3,900.
    std::vector<std::int64_t> times;
    std::int64_t now = 0, due = 3900;
    for (int turn = 0; turn < 120; ++turn) {
        const std::int64_t begin = now;
        for (now += 9000; due <= now; due += 3900) now += 260;
        times.push_back(now - begin);
    }
    Pretence device{[&times](const std::string& layer) {
        return layer.starts_with("block0.") ? times.at(static_cast<std::size_t>(turn_of(layer))) : 1000;
    }};
    device.jitter = Ticks(260);
    Growing blind({120}, device);
    REQUIRE(blind.result(2, 2));
    device.refreshes = {Ticks(260), Ticks(3900), Ticks(3900)};
    Growing growing({120}, device);
    growing.few_agree = false;  // 1,000 refreshes' time are more than two of them
    const auto result = growing.result(2, 2);
    REQUIRE(result);
    CHECK(growing.simulated() < 40);
    CHECK(growing.simulated() < blind.simulated());
    CHECK(blind.ran_at_first == 1);
    CHECK(growing.ran_at_first == 0);
    const Ticks whole = growing.device.whole(growing.graph).total.end;
    CHECK(std::abs((result->total.end - whole).value()) <= whole.value() / 1000);
}

TEST_CASE("of several blocks the ends count as the root of their number does") {
    CHECK(doubt_of_ends(0, Ticks(100)) == Ticks(0));
    CHECK(doubt_of_ends(1, Ticks(100)) == Ticks(200));
    CHECK(doubt_of_ends(4, Ticks(100)) == Ticks(400));
    CHECK(doubt_of_ends(2, Ticks(100)) == Ticks(283));  // rounded up
}

TEST_CASE("where a run cannot go on nothing is known") {
    Pretence device{[](const std::string&) { return 10'000; }};
    device.jitter = Ticks(200);
    const Growing growing({100}, device);
    const RunTurns at_first = [&](const auto& turns, const auto& marks) {
        return device(shorten(growing.graph, turns), marks);
    };
    CHECK_FALSE(run_growing(growing.equal, at_first, {3, growing.device.jitter, {}},
                            [](const auto&, const auto&) { return std::nullopt; }));
}

TEST_CASE("where the last turns have begun before there could be more nothing is known") {
    Pretence device{[](const std::string& layer) {
        return layer.starts_with("block") ? 1000 + 100 * turn_of(layer) : 1000;
    }};
    CHECK_FALSE(Growing({50}, device).result(30, 2));
    CHECK(Growing({50}, device).result(5, 2));  // more than was told, but in time
}
