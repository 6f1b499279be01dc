// SPDX-License-Identifier: Apache-2.0
// Reuse of repeated blocks on a make-believe device: a layer takes so many ticks of one array of one slot,
// all of them useful, and reads as many bytes from DRAM as its place in its turn says.
#include "sim/device/reuse.h"

#include <catch2/catch.hpp>
#include <functional>

#include "sim/base/error.h"
#include "tests/unit/workload/graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

Graph network(int turns) {
    return graph_of(trace_of("[4, 8]",
                             "  - {name: first, op: matmul, n: 8}\n"
                             "  - name: block\n"
                             "    repeat: " +
                                 std::to_string(turns) +
                                 "\n"
                                 "    layers:\n"
                                 "      - {name: a, op: matmul, n: 8}\n"
                                 "      - {name: b, op: matmul, n: 8}\n"
                                 "  - {name: out, op: matmul, n: 2}\n"));
}

/// Times and bytes of layers by name; all that is asked of it is kept.
struct Pretence {
    std::function<std::int64_t(const std::string& layer)> ticks;
    Ticks jitter = Ticks(0), longest = Ticks::max();
    std::function<std::int64_t(const std::string& layer)> bytes_of = [](const std::string& layer) {
        return layer.ends_with(".b") ? 20 : 10;
    };
    mutable std::vector<std::size_t> layers_run = {};

    MarkedRun operator()(const ShorterGraph& shorter, const std::vector<std::size_t>& marks) const {
        layers_run.push_back(shorter.graph.layers.size());
        MarkedRun run{{}, {}, jitter, longest};
        DeviceResult& result = run.checked.result;
        result.clock = Hertz(1'000'000'000'000);  // a cycle is a tick
        result.trace = shorter.graph.name;
        Ticks now;
        std::int64_t bytes = 0;
        for (std::size_t i = 0; i < shorter.graph.layers.size(); ++i) {
            const Layer& layer = shorter.graph.layers[i];
            ResultRow row;
            row.name = layer.name;
            row.op = "matmul";
            row.begin = now;
            now += Ticks(ticks(layer.name));
            row.end = now;
            row.cycles = Cycles(row.time().value());
            row.slots[static_cast<std::size_t>(SlotClass::Useful)] = row.time().value();
            row.macs = row.matrix_macs = Macs(1);
            row.dram_read = Bytes(bytes_of(layer.name));
            row.movements = {{Place::Dram, Place::Scratchpad, Operand::Weights, row.dram_read}};
            bytes += row.dram_read.value();
            result.layers.push_back(row);
            if (std::ranges::find(marks, i + 1) != marks.end())
                run.marks.push_back({i + 1,
                                     now,
                                     {{"transfer", 2 * now.value()}},
                                     {{SlotClass::Useful, now}},
                                     {bytes / 10},
                                     Bytes(3 * static_cast<std::int64_t>(i + 1))});
        }
        ResultRow& total = result.total;
        total.end = now;
        total.cycles = Cycles(now.value());
        total.slots[static_cast<std::size_t>(SlotClass::Useful)] = now.value();
        total.macs = total.matrix_macs = Macs(static_cast<std::int64_t>(result.layers.size()));
        total.dram_read = Bytes(bytes);
        total.compulsory_dram = Bytes(3 * static_cast<std::int64_t>(result.layers.size()));
        total.movements = {{Place::Dram, Place::Scratchpad, Operand::Weights, Bytes(bytes)}};
        result.critical_path = {{SlotClass::Useful, now}};
        result.stats = {{"dram", "bursts", "bursts", "", bytes / 10}};
        result.memory_bus = {{"transfer", 2 * now.value()}};
        result.energy.enter({"dram", "read", "bursts", "bursts", bytes / 10, Femtojoules(7)});
        result.energy.enter({"dram", "background", "", "ps", 2 * now.value(), Femtojoules(1)});
        run.checked.expected = {now.value(),
                                total.macs,
                                {{Place::Dram, Bytes(bytes), Bytes(0)}},
                                {{2}, 0, {}, BytesPerSecond::max(), BytesPerSecond(1), result.clock}};
        return run;
    }

    /// As above, and goes on with another network where it is told to.
    MarkedRun sample(const ShorterGraph& shorter, const std::vector<std::size_t>& marks,
                     const GoOnWith& go_on_with) const {
        MarkedRun run = (*this)(shorter, marks);
        for (std::size_t met = 1; met <= run.marks.size(); ++met)
            if (const auto fewer =
                    go_on_with({run.marks.begin(), run.marks.begin() + static_cast<std::ptrdiff_t>(met)}))
                return (*this)(*fewer, {marks.begin(), marks.begin() + static_cast<std::ptrdiff_t>(met)});
        return run;
    }

    /// What the whole network would have answered.
    DeviceResult whole(const Graph& graph) const {
        std::vector<std::size_t> turns;
        for (const RepeatedBlock& block : graph.blocks) turns.push_back(block.turns);
        return Pretence{ticks, jitter, longest, bytes_of}(shorten(graph, turns), {}).checked.result;
    }
};

void check_equal(const DeviceResult& reused, const DeviceResult& whole) {
    REQUIRE(reused.layers.size() == whole.layers.size());
    for (std::size_t i = 0; i < whole.layers.size(); ++i) {
        CHECK(reused.layers[i].name == whole.layers[i].name);
        CHECK(reused.layers[i].begin == whole.layers[i].begin);
        CHECK(reused.layers[i].end == whole.layers[i].end);
        CHECK(reused.layers[i].dram_read == whole.layers[i].dram_read);
    }
    CHECK(reused.total.end == whole.total.end);
    CHECK(reused.total.cycles == whole.total.cycles);
    CHECK(reused.total.macs == whole.total.macs);
    CHECK(reused.total.slots == whole.total.slots);
    CHECK(reused.total.compulsory_dram == whole.total.compulsory_dram);
    CHECK(reused.total.movements.at(0).bytes == whole.total.movements.at(0).bytes);
    CHECK(reused.critical_path.at(0).time == whole.critical_path.at(0).time);
    CHECK(reused.stats.at(0).value == whole.stats.at(0).value);
    CHECK(reused.memory_bus.at(0).clocks == whole.memory_bus.at(0).clocks);
    CHECK(reused.energy.total() == whole.energy.total());
}

std::size_t reused_rows(const DeviceResult& result) {
    return static_cast<std::size_t>(
        std::ranges::count_if(result.layers, [](auto& row) { return row.reused; }));
}

}  // namespace

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

TEST_CASE("behind a cache, bytes of the memory may move between layers") {
    const Graph graph = network(80);
    const auto reused = [&](TurnsDiffer how, std::int64_t moved) {
        Pretence device{[](const std::string&) { return 1000; }};
        device.bytes_of = [=](const std::string& layer) -> std::int64_t {
            if (!layer.starts_with("block.")) return 50'000;
            // From turn to turn 0, 1, 4, 2, 2, 4, 1: nor do rounds of up to four agree.
            const std::int64_t turn = std::stoi(layer.substr(6)), more = turn * turn % 7 * moved;
            return layer.ends_with(".a") ? 50'000 + more : 50'000 - more;
        };
        const auto result = run_reusing(graph, std::cref(device), {.differ = how});
        if (result) CHECK(result->total.dram_read == device.whole(graph).total.dram_read);
        return result.has_value();
    };
    CHECK(reused(TurnsDiffer::ByChance, 10'000));
    CHECK(reused(TurnsDiffer::InRounds, 0));
    CHECK_FALSE(reused(TurnsDiffer::InRounds, 1));
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
        const auto result = run_sampling(graph, std::bind_front(&Pretence::sample, std::cref(device)));
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
        CHECK(runs.back() >= 2 + 2 * (3 + 23));
        CHECK(runs.back() <= 2 + 2 * (3 + 92));
    }
    CHECK_FALSE(run(40'000, false).first);  // thousands
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

TEST_CASE("a sample of turns that are equal makes the whole network's result") {
    const Graph graph = network(40);
    const Pretence device{[](const std::string& layer) { return layer.ends_with(".b") ? 500 : 300; }};
    const auto result = run_sampling(graph, std::bind_front(&Pretence::sample, std::cref(device)));
    REQUIRE(result);
    check_equal(*result, device.whole(graph));
    CHECK(device.layers_run == std::vector<std::size_t>{2 + 2 * 11, 2 + 2 * 7});
    CHECK(reused_rows(*result) == 2 * (40 - 7));
}

TEST_CASE("a sample of two blocks is not cut short") {
    const Graph graph =
        graph_of(trace_of("[4, 8]",
                          "  - name: one\n    repeat: 20\n    layers: [{name: a, op: matmul, n: 8}]\n"
                          "  - name: two\n    repeat: 20\n    layers: [{name: a, op: matmul, n: 8}]\n"
                          "  - {name: out, op: matmul, n: 2}\n"));
    const Pretence device{[](const std::string& layer) { return layer.starts_with("one") ? 500 : 300; }};
    const auto result = run_sampling(graph, std::bind_front(&Pretence::sample, std::cref(device)));
    REQUIRE(result);
    check_equal(*result, device.whole(graph));
    CHECK(device.layers_run == std::vector<std::size_t>{1 + 2 * 11});
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
