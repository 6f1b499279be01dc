// SPDX-License-Identifier: Apache-2.0
#include "sim/account/comparison.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "sim/account/writers.h"

namespace systole {
namespace {

/// `slots`: of useful, memory and tail, slot-ticks of a machine with one slot.
ResultRow row(const std::string& name, std::int64_t useful, std::int64_t memory, std::int64_t tail) {
    ResultRow made;
    made.name = name;
    made.op = name.empty() ? "" : "matmul";
    made.slots[static_cast<std::size_t>(SlotClass::Useful)] = useful;
    made.slots[static_cast<std::size_t>(SlotClass::Memory)] = memory;
    made.slots[static_cast<std::size_t>(SlotClass::Tail)] = tail;
    made.end = Ticks(useful + memory + tail);
    made.bound_by = "memory";
    return made;
}

DeviceResult device(const std::string& name, const std::vector<ResultRow>& layers) {
    DeviceResult made;
    made.device = name;
    made.trace = "net";
    made.clock = Hertz(1'000'000'000);
    made.peaks.macs = MacRate{1000};
    made.layers = layers;
    std::int64_t useful = 0, memory = 0, tail = 0;
    for (const ResultRow& layer : layers) {
        useful += layer.slots[static_cast<std::size_t>(SlotClass::Useful)];
        memory += layer.slots[static_cast<std::size_t>(SlotClass::Memory)];
        tail += layer.slots[static_cast<std::size_t>(SlotClass::Tail)];
    }
    made.total = row("", useful, memory, tail);
    return made;
}

}  // namespace

TEST_CASE("The fastest device wins, by the time of the next one") {
    const Comparison comparison =
        compare({device("slow", {row("a", 500, 500, 0)}), device("fast", {row("a", 200, 0, 50)}),
                 device("middle", {row("a", 200, 300, 0)})});
    const Standing& layer = comparison.layers.at(0);
    CHECK(layer.times == std::vector{Ticks(1000), Ticks(250), Ticks(500)});
    CHECK(layer.winner == 1);
    CHECK(layer.next == 2);
    CHECK(layer.factor == Approx(2.0));
    CHECK(layer.longer[static_cast<std::size_t>(SlotClass::Memory)] == Approx(300));
    CHECK(layer.longer[static_cast<std::size_t>(SlotClass::Tail)] == Approx(-50));
    CHECK(layer.why ==
          "fast is 2.00x as fast as middle, which waits 300 ps longer for memory. fast: 20.0 % tail.");
    CHECK(comparison.total.name == "total");
    CHECK(comparison.total.winner == 1);
}

TEST_CASE("Causes are named until most of the difference is said, the largest first") {
    const Comparison comparison =
        compare({device("a", {row("x", 3000, 4000, 5000)}), device("b", {row("x", 1000, 0, 0)})});
    CHECK(comparison.layers[0].why ==
          "b is 12.00x as fast as a, which has matrix units without work for 5.000 ns longer and waits 4.000 "
          "ns longer "
          "for memory.");
}

TEST_CASE("A peak is that of the layer's number format, and of the total that of the fastest one") {
    // Four and two slots at 1 GHz: 0.008 and 0.004 TOPS. All of the trace is held to 1000 MACs a cycle: 2
    // TOPS.
    ResultRow next = row("x", 4000, 0, 0), won = row("x", 1000, 0, 0);
    next.end = Ticks(1000);
    won.end = Ticks(500);
    const Comparison comparison = compare({device("a", {next}), device("b", {won})});
    CHECK(comparison.layers[0].why ==
          "b is 2.00x as fast as a, which multiplies for 500 ps longer (peak 0.008 against 0.004 TOPS).");
    CHECK(comparison.total.why ==
          "b is 4.00x as fast as a, which multiplies for 3.000 ns longer (peak 2 against 2 TOPS).");
}

TEST_CASE("A layer that one device does in another one's row is added to that row on all devices") {
    DeviceResult apart =
        device("apart", {row("a", 10, 0, 5), row("b", 7, 0, 0), row("sum", 0, 30, 1), row("own", 2, 0, 0)});
    apart.layers[0].dram_read = Bytes(100);
    apart.layers[0].movements = {{Place::Dram, Place::Scratchpad, Operand::Weights, Bytes(100)}};
    apart.layers[2].dram_read = Bytes(11);
    apart.layers[2].movements = {{Place::Dram, Place::Scratchpad, Operand::Weights, Bytes(4)},
                                 {Place::Dram, Place::Scratchpad, Operand::Activations, Bytes(7)}};
    apart.layers[2].bound_by = "vector";
    const DeviceResult joined =
        device("joined", {row("a", 10, 10, 0), row("b", 6, 0, 0), row("own", 3, 0, 0)});
    const Comparison comparison = compare({apart, joined}, {{"sum", "a"}, {"own", "b"}});
    REQUIRE(comparison.layers.size() == 3);
    CHECK(comparison.layers[0].times == std::vector{Ticks(46), Ticks(20)});
    CHECK(comparison.layers[1].times == std::vector{Ticks(7), Ticks(6)});
    CHECK(comparison.layers[2].times == std::vector{Ticks(2), Ticks(3)});
    const ResultRow& sum = comparison.rows[0][0];
    CHECK(sum.op == "matmul + matmul");
    CHECK(sum.bound_by == "vector");
    CHECK(sum.dram_read == Bytes(111));
    REQUIRE(sum.movements.size() == 2);
    CHECK(sum.movements[0].bytes == Bytes(104));
    CHECK(sum.movements[1].operand == Operand::Activations);
    CHECK(sum.movements[1].bytes == Bytes(7));
    CHECK(sum.fraction(SlotClass::Memory) == Approx(30.0 / 46));
    CHECK(comparison.devices[0].layers.size() == 4);
    CHECK(comparison.layers[0].longer[static_cast<std::size_t>(SlotClass::Memory)] == Approx(20));
}

TEST_CASE("Parts of a layer that come before it are its row where another device does it as a whole") {
    const DeviceResult parts = device("parts", {row("a", 1, 0, 0), row("x.scores", 10, 0, 0),
                                                row("x.softmax", 5, 0, 0), row("x", 7, 0, 0)});
    const DeviceResult whole = device("whole", {row("a", 2, 0, 0), row("x", 9, 0, 0)});
    const Comparison comparison = compare({parts, whole}, {{"x.scores", "x"}, {"x.softmax", "x"}});
    REQUIRE(comparison.layers.size() == 2);
    CHECK(comparison.layers[1].name == "x");
    CHECK(comparison.layers[1].times == std::vector{Ticks(22), Ticks(9)});
    // Two that do it in parts have all of these.
    CHECK(compare({parts, parts}, {{"x.scores", "x"}, {"x.softmax", "x"}}).layers.size() == 4);
}

TEST_CASE("Rows of several devices that have layers in common are one row") {
    const DeviceResult all = device("all", {row("view", 1, 0, 0), row("q", 2, 0, 0), row("k", 4, 0, 0),
                                            row("cache", 8, 0, 0), row("last", 16, 0, 0)});
    const DeviceResult with_views =
        device("views", {row("view", 3, 0, 0), row("cache", 5, 0, 0), row("last", 1, 0, 0)});
    const DeviceResult with_cache =
        device("cache", {row("view", 3, 0, 0), row("q", 5, 0, 0), row("last", 1, 0, 0)});
    const Joins joins{{"q", "view"}, {"k", "view"}, {"k", "q"}, {"cache", "q"}};
    const auto times = [&](const std::vector<DeviceResult>& devices) {
        const Comparison comparison = compare(devices, joins);
        CHECK(comparison.layers.front().name == "view");
        CHECK(comparison.layers.back().name == "last");
        std::vector<std::vector<Ticks>> all_times;
        for (const Standing& layer : comparison.layers) all_times.push_back(layer.times);
        return all_times;
    };
    using Times = std::vector<std::vector<Ticks>>;
    CHECK(times({all, with_views, with_cache}) ==
          Times{{Ticks(15), Ticks(8), Ticks(8)}, {Ticks(16), Ticks(1), Ticks(1)}});
    CHECK(times({all, all}).size() == 5);
}

TEST_CASE("Devices that take the same time, and layers that take none, are told as such") {
    const Comparison same = compare({device("a", {row("x", 10, 0, 0)}), device("b", {row("x", 5, 5, 0)})});
    CHECK(same.layers[0].winner == 0);
    CHECK(same.layers[0].factor == Approx(1));
    CHECK(same.layers[0].why == "a and b take the same time.");
    const Comparison none = compare({device("a", {row("x", 0, 0, 0)}), device("b", {row("x", 5, 5, 0)})});
    CHECK(none.layers[0].factor == 0);
    CHECK(none.layers[0].why.find("a is done beside other layers, before b") == 0);
    CHECK(compare({device("alone", {row("x", 9, 1, 0)})}).layers[0].next == 0);
}

TEST_CASE("What the next one spends longer by class sums to the difference of the times") {
    for (unsigned seed = 1; seed <= 50; ++seed) {
        std::mt19937 random(seed);
        std::vector<DeviceResult> devices;
        for (int d = 0; d < 4; ++d) {
            std::vector<ResultRow> layers;
            for (int i = 0; i < 5; ++i)
                layers.push_back(
                    row("l" + std::to_string(i), random() % 1000, random() % 1000, random() % 1000));
            devices.push_back(device("d" + std::to_string(d), layers));
        }
        const Comparison comparison = compare(devices);
        for (const Standing& layer : comparison.layers) {
            const double sum = std::accumulate(layer.longer.begin(), layer.longer.end(), 0.0);
            const Ticks apart = layer.times[layer.next] - layer.times[layer.winner];
            INFO("seed " << seed);
            CHECK(sum == Approx(static_cast<double>(apart.value())).margin(1e-6));
            for (const Ticks time : layer.times) CHECK(time >= layer.times[layer.winner]);
        }
    }
}

TEST_CASE("Sentences of equal neighbours are one, and long networks tell ten unless asked for all") {
    std::vector<ResultRow> first, second;
    for (int i = 0; i < 12; ++i) {
        first.push_back(row("l" + std::to_string(i), 100, i < 3 ? 900 : i, 0));
        second.push_back(row("l" + std::to_string(i), 100, 0, 0));
    }
    const Comparison comparison = compare({device("a", first), device("b", second)});
    const std::string few = to_text(comparison, false), all = to_text(comparison, true);
    CHECK(few.find("l0 to l2: b is 10.00x as fast as a") != std::string::npos);
    CHECK(few.find("\nl3: ") == std::string::npos);
    CHECK(few.find("--all says all 12") != std::string::npos);
    CHECK(all.find("\nl3: ") != std::string::npos);
    CHECK(all.find("--all") == std::string::npos);
}

}  // namespace systole
