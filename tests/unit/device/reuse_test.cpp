// SPDX-License-Identifier: Apache-2.0
// Reuse of repeated blocks on a make-believe device.
#include "sim/device/reuse.h"

#include <catch2/catch.hpp>
#include <functional>

#include "sim/base/error.h"
#include "tests/unit/device/pretence.h"

using namespace systole;
using namespace systole::test;

TEST_CASE("equal turns are simulated five times, and the result is the whole network's") {
    const Graph graph = network(40);
    const Pretence device{[](const std::string& layer) { return layer.ends_with(".b") ? 500 : 300; }};
    const auto result = run_reusing(graph, std::cref(device));
    REQUIRE(result);
    check_equal(*result, device.whole(graph));
    CHECK(reused_rows(*result) == 2 * 35);
    CHECK(result->layers[1 + 2 * 3].reused);         // turn 3
    CHECK_FALSE(result->layers[2 * 3].reused);       // the last layer of turn 2
    CHECK_FALSE(result->layers[1 + 2 * 38].reused);  // the last turn but one
    CHECK(device.layers_run == std::vector<std::size_t>{2 + 10});
}

TEST_CASE("turns that are long in coming to agree are simulated nine times") {
    const Graph graph = network(40);
    const Pretence device{[](const std::string& layer) {
        for (const char* early : {"block.0.", "block.1.", "block.2."})
            if (layer.starts_with(early)) return 100 + 100 * (layer[6] - '0');
        return 1000;
    }};
    const auto result = run_reusing(graph, std::cref(device));
    REQUIRE(result);
    check_equal(*result, device.whole(graph));
    CHECK(reused_rows(*result) == 2 * 31);
    CHECK(device.layers_run == std::vector<std::size_t>{12, 20});
}

TEST_CASE(
    "two turns that are alike by chance do not stand for others that the turn behind them speaks against") {
    const Pretence device{[](const std::string& layer) {
        return layer.starts_with("block.") && std::stoi(layer.substr(6)) <= 2 ? 500 : 510;
    }};
    const auto result = run_reusing(network(40), std::cref(device));
    REQUIRE(result);
    check_equal(*result, device.whole(network(40)));
    CHECK(device.layers_run == std::vector<std::size_t>{12, 20});
}

TEST_CASE("two turns that are alike by chance, as is the one behind them, are told by more at first") {
    const auto deceiving = [](const std::string& layer) {
        if (!layer.starts_with("block.")) return 500;
        const int turn = std::stoi(layer.substr(6));
        return turn <= 2 || turn == 38 ? 510 : 500;
    };
    const Pretence two{deceiving}, four{deceiving};
    const auto deceived = run_reusing(network(40), std::cref(two));
    REQUIRE(deceived);
    CHECK(two.layers_run == std::vector<std::size_t>{12});
    CHECK(deceived->total.end > two.whole(network(40)).total.end);
    CHECK_FALSE(run_reusing(network(40), std::cref(four), {.at_first = 4}));
    CHECK(four.layers_run.front() == 2 + 2 * 7);
}

TEST_CASE("turns that never agree are not reused") {
    const Pretence device{[](const std::string& layer) {
        return layer.starts_with("block.") ? 1000 + 100 * std::stoi(layer.substr(6)) : 1000;
    }};
    CHECK_FALSE(run_reusing(network(40), std::cref(device)));
    CHECK(device.layers_run == std::vector<std::size_t>{12, 20});
}

TEST_CASE("a run that may stand for no others is the last") {
    const Pretence device{[](const std::string&) { return 1000; }};
    int runs = 0;
    const auto refuses = [&](const ShorterGraph& shorter,
                             const std::vector<std::size_t>& marks) -> std::optional<MarkedRun> {
        if (++runs > 1) return device(shorter, marks);
        return std::nullopt;
    };
    CHECK_FALSE(run_reusing(network(40), refuses));
    CHECK(runs == 1);
}

TEST_CASE("no further run has more layers than are allowed") {
    const Pretence device{[](const std::string& layer) {
        for (const std::string early : {"block.1.", "block.2.", "block.3."})
            if (layer.starts_with(early)) return 100 + 100 * (layer[6] - '0');
        return 1000;
    }};
    const Graph graph = network(40);  // that wants twenty
    CHECK_FALSE(run_reusing(graph, std::cref(device), {.most_layers = 19}));
    CHECK(device.layers_run == std::vector<std::size_t>{12});
    CHECK(run_reusing(graph, std::cref(device), {.most_layers = 20}));
    CHECK(device.layers_run == std::vector<std::size_t>{12, 12, 20});
}

TEST_CASE("a layer may differ by a refresh at both of its ends and 1/200 of a turn, and no more") {
    const Graph graph = network(40);
    // Its neighbour makes up for it, so that turns are equal. Turns 1 to 6 do not go in rounds.
    const auto with = [&](std::int64_t more, std::int64_t jitter) {
        const Pretence device{[more](const std::string& layer) -> std::int64_t {
                                  if (!layer.starts_with("block.")) return 50'000;
                                  const int turn = std::stoi(layer.substr(6));
                                  if (turn != 2 && turn != 3 && turn != 4 && turn != 6) return 50'000;
                                  return layer.ends_with(".a") ? 50'000 + more : 50'000 - more;
                              },
                              Ticks(jitter)};
        return run_reusing(graph, std::cref(device)).has_value();
    };
    CHECK(with(0, 0));
    CHECK(with(500, 0));
    CHECK_FALSE(with(501, 0));
    CHECK(with(700, 100));
    CHECK_FALSE(with(701, 100));
}

TEST_CASE("the more turns differ, the more of them are simulated, and in turn stand for those left out") {
    // Every fifth turn meets a refresh more: a layer of 50,000 ticks takes `more` longer.
    const auto run = [](int turns, std::int64_t more) {
        const Pretence device{[more](const std::string& layer) {
                                  const bool meets = layer.starts_with("block.") && layer.ends_with(".a") &&
                                                     std::stoi(layer.substr(6)) % 5 == 2;
                                  return meets ? 50'000 + more : 50'000;
                              },
                              Ticks(more)};
        const Graph graph = network(turns);
        const auto result = run_reusing(graph, std::cref(device));
        return std::tuple(result.has_value(), device.layers_run,
                          result ? result->total.end - device.whole(graph).total.end : Ticks(0));
    };
    using Runs = std::vector<std::size_t>;
    const auto [two, two_runs, two_off] = run(80, 100);  // 1/1000 of a turn
    CHECK(two);
    CHECK(two_runs == Runs{12});
    CHECK(std::abs(two_off.value()) <= 80 * 100'000 / 1000);
    const auto [six, six_runs, six_off] = run(80, 250);  // 1/400 of a turn
    CHECK(six);
    CHECK(six_runs == Runs{12, 20});
    CHECK(std::abs(six_off.value()) <= 80 * 100'000 / 1000);
    // 1/100 would be 20 turns, which it is tried with as turns are so short that ten are wanted for a refresh
    // that is not seen.
    const auto [many, many_runs, many_off] = run(80, 1000);
    CHECK(many);
    CHECK(many_runs == Runs{12, 2 + 2 * 23});
    CHECK(std::abs(many_off.value()) <= 80 * 100'000 / 1000);
    CHECK_FALSE(std::get<0>(run(25, 1000)));  // as cheap to simulate them all
}

TEST_CASE("turns that go in rounds stand for those left out place by place") {
    // By turns of so many one takes 1/40 longer, which no number of them would make up for alone.
    for (const int round : {2, 3, 4}) {
        for (const int turns : {80, 81, 82, 83}) {
            const Pretence device{[round](const std::string& layer) {
                const bool longer = layer.starts_with("block.") && layer.ends_with(".a") &&
                                    std::stoi(layer.substr(6)) % round == 1;
                return longer ? 52'500 : 50'000;
            }};
            CAPTURE(round, turns);
            const Graph graph = network(turns);
            const auto result = run_reusing(graph, std::cref(device));
            REQUIRE(result);
            CHECK(device.layers_run.size() == 2);
            check_equal(*result, device.whole(graph));
        }
    }
}

TEST_CASE("a result says by how much turns that differ, and refreshes that nobody saw, make it uncertain") {
    const Pretence device{[](const std::string& layer) { return layer == "block.2.a" ? 50'080 : 50'000; },
                          Ticks(100)};
    const auto result = run_reusing(network(40), std::cref(device));
    REQUIRE(result);
    REQUIRE(device.layers_run == std::vector<std::size_t>{12});
    REQUIRE(result->reuse);
    // Two turns differ by 80 and stand for 35; behind them a refresh more or less at either end.
    CHECK(result->reuse->off == Ticks(80 * 35 / 2 + 2 * 100));
    CHECK_FALSE(result->reuse->by_chance);
    CHECK_FALSE(device.whole(network(40)).reuse);
}

TEST_CASE("a result that were faster than the device is none") {
    // Two turns take what their MACs do at the peak. Of 81 there is one more of the longer or of the shorter.
    for (const int longer : {0, 1}) {
        Pretence device{[longer](const std::string& layer) {
            if (!layer.starts_with("block0.")) return 50'000;
            return std::stoi(layer.substr(7)) % 2 == longer ? 51'000 : 49'000;
        }};
        device.rate = {1, 50'000};
        const Graph graph = blocks_of({81});
        const auto result = run_reusing(graph, std::cref(device));
        CAPTURE(longer);
        REQUIRE(result.has_value() == (longer == 0));
        if (result) check_equal(*result, device.whole(graph));
    }
}

TEST_CASE("turns that differ by more than the first of them told are simulated again") {
    // Turns 2, 7, ... take 1/500 longer, turns 5, 16, ... 1/100: three differ by 4/2000, more by 20/2000.
    const Pretence device{[](const std::string& layer) {
                              if (!layer.starts_with("block.") || !layer.ends_with(".a")) return 50'000;
                              const int turn = std::stoi(layer.substr(6));
                              return turn % 11 == 5 ? 51'000 : turn % 5 == 2 ? 50'200 : 50'000;
                          },
                          Ticks(250)};
    const Graph graph = network(80);
    const auto result = run_reusing(graph, std::cref(device));
    REQUIRE(result);
    CHECK(device.layers_run.size() > 2);
    CHECK(std::abs((result->total.end - device.whole(graph).total.end).value()) <= 80 * 100'000 / 1000);
    CHECK(result->layers.size() == graph.layers.size());
}

TEST_CASE("two turns that agree are not enough where each may have a refresh more than others") {
    // Every third turn has one less, and the first two that are looked at are others.
    const Pretence device{[](const std::string& layer) {
                              if (!layer.starts_with("block.") || !layer.ends_with(".a")) return 50'000;
                              return std::stoi(layer.substr(6)) % 3 == 0 ? 49'600 : 50'000;
                          },
                          Ticks(400)};
    const Graph graph = network(80);
    const auto result = run_reusing(graph, std::cref(device));
    REQUIRE(result);
    CHECK(device.layers_run.size() > 1);
    CHECK(std::abs((result->total.end - device.whole(graph).total.end).value()) <= 80 * 100'000 / 1000);
}

TEST_CASE("turns that have not settled yet do not stand for those that have") {
    // Of the six that are looked at all agree, but only the last four, which do not differ, stand for others.
    const Pretence device{[](const std::string& layer) {
        if (!layer.starts_with("block.") || !layer.ends_with(".a")) return 50'000;
        const int turn = std::stoi(layer.substr(6));
        return turn == 1 ? 50'290 : turn == 2 ? 50'150 : 50'000;
    }};
    const Graph graph = network(80);
    const auto result = run_reusing(graph, std::cref(device));
    REQUIRE(result);
    CHECK(device.layers_run == std::vector<std::size_t>{12, 20});
    check_equal(*result, device.whole(graph));
}

TEST_CASE("a run so short that refreshes behind its block are more than is promised is simulated whole") {
    const auto reused = [](std::int64_t jitter, std::int64_t behind) {
        const Pretence device{[behind](const std::string& layer) { return layer == "out" ? behind : 1000; },
                              Ticks(jitter)};
        return run_reusing(network(40), std::cref(device)).has_value();
    };
    // 81 layers of 1000 and what is behind them: a thousandth of that is 82, which two refreshes may not
    // exceed.
    CHECK(reused(41, 1000));
    CHECK_FALSE(reused(42, 1000));
    CHECK(reused(42, 3000));
}

TEST_CASE("of turns so short that a refresh tells in them as many are simulated at once as agree then") {
    const Graph graph = network(400);
    const auto layers_run = [&](std::int64_t jitter) {
        const Pretence device{[](const std::string&) { return 500; }, Ticks(jitter)};
        const auto result = run_reusing(graph, std::cref(device));
        REQUIRE(result);
        check_equal(*result, device.whole(graph));
        return device.layers_run;
    };
    // A turn takes 1000 ticks: of a jitter of eight, eight turns are wanted, which a second look has; of
    // nine, as many as agree if they differ by one, 9 / 1000 * 2000.
    CHECK(layers_run(8) == std::vector<std::size_t>{2 + 2 * 5, 2 + 2 * 11});
    CHECK(layers_run(9) == std::vector<std::size_t>{2 + 2 * 5, 2 + 2 * (3 + 18)});
}

TEST_CASE("few turns are all simulated") {
    const Pretence device{[](const std::string&) { return 10; }};
    CHECK_FALSE(run_reusing(network(15), std::cref(device)));
    CHECK(device.layers_run.empty());
    CHECK(run_reusing(network(16), std::cref(device)));
}

TEST_CASE("a run that becomes too long to be accounted for is refused") {
    const Pretence device{[](const std::string&) { return 1'000'000; }, Ticks(0), Ticks(50'000'000)};
    CHECK_THROWS_AS(run_reusing(network(40), std::cref(device)), UserError);
}

TEST_CASE(
    "of several blocks of short turns as many are simulated at once as agree if they differ by two "
    "refreshes") {
    const Graph graph = blocks_of({400, 400});
    const Pretence device{[](const std::string&) { return 500; }, Ticks(5)};
    const auto result = run_reusing(graph, std::cref(device));
    REQUIRE(result);
    check_equal(*result, device.whole(graph));
    // Two of 5 / 500 * 2000.
    CHECK(device.layers_run == std::vector<std::size_t>{1 + 2 * 5, 1 + 2 * (3 + 40)});
}

TEST_CASE("where turns of a block do not agree, blocks whose turns take as long get as many") {
    // Of the first block four turns take 1/200 longer, which ten together make up for; no rounds of these
    // eight do. A turn of the third block takes three times as long.
    const Pretence device{[](const std::string& layer) {
        if (layer.starts_with("block2")) return 300'000;
        const int turn = layer.starts_with("block0.") ? std::stoi(layer.substr(7)) : 0;
        return (turn >= 2 && turn <= 4) || turn == 8 ? 100'500 : 100'000;
    }};
    CHECK(run_reusing(blocks_of({80, 80, 80}), std::cref(device)));
    CHECK(device.layers_run == std::vector<std::size_t>{1 + 5 + 5 + 5, 1 + 11 + 11 + 9, 1 + 13 + 13 + 9});
}
