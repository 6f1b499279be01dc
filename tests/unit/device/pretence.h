// SPDX-License-Identifier: Apache-2.0
// A make-believe device for tests of reuse: a layer takes so many ticks of one array of one slot, all of them
// useful, and reads as many bytes from DRAM as its place in its turn says.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "sim/device/reuse.h"
#include "tests/unit/workload/graphs.h"

namespace systole::test {

inline Graph network(int turns) {
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

/// Blocks `block0`, `block1` … of one layer a turn, with so many turns each.
inline Graph blocks_of(const std::vector<int>& turns) {
    std::string layers;
    for (std::size_t i = 0; i < turns.size(); ++i)
        layers += "  - name: block" + std::to_string(i) + "\n    repeat: " + std::to_string(turns[i]) +
                  "\n    layers: [{name: a, op: matmul, n: 8}]\n";
    return graph_of(trace_of("[4, 8]", layers + "  - {name: out, op: matmul, n: 2}\n"));
}

/// Times and bytes of layers by name; all that is asked of it is kept.
struct Pretence {
    std::function<std::int64_t(const std::string& layer)> ticks;
    Ticks jitter = Ticks(0), longest = Ticks::max();
    std::function<std::int64_t(const std::string& layer)> bytes_of = [](const std::string& layer) {
        return layer.ends_with(".b") ? 20 : 10;
    };
    MacRate rate = {2};
    Refreshes refreshes = {};
    mutable std::vector<std::size_t> layers_run = {};
    bool alike = true;  ///< its turns may stand for others

    MarkedRun operator()(const ShorterGraph& shorter, const std::vector<std::size_t>& marks) const {
        layers_run.push_back(shorter.graph.layers.size());
        MarkedRun run{{}, {}, jitter, longest, refreshes, alike};
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
                                {rate, 0, {}, BytesPerSecond::max(), BytesPerSecond(1), result.clock}};
        return run;
    }

    /// As above, and goes on with another network where it is told to.
    MarkedRun sample(const ShorterGraph& shorter, const std::vector<std::size_t>& marks,
                     const GoOnWith& go_on_with) const {
        MarkedRun run = (*this)(shorter, marks);
        for (std::size_t met = 1; met <= run.marks.size(); ++met)
            if (const auto go_on = go_on_with(
                    {run.marks.begin(), run.marks.begin() + static_cast<std::ptrdiff_t>(met)}, alike))
                run = (*this)(go_on->shorter, go_on->marks);
        return run;
    }

    /// What the whole network would have answered.
    DeviceResult whole(const Graph& graph) const {
        std::vector<std::size_t> turns;
        for (const RepeatedBlock& block : graph.blocks) turns.push_back(block.turns);
        return Pretence{ticks, jitter, longest, bytes_of}(shorten(graph, turns), {}).checked.result;
    }
};

inline void check_equal(const DeviceResult& reused, const DeviceResult& whole) {
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

inline std::size_t reused_rows(const DeviceResult& result) {
    return static_cast<std::size_t>(
        std::ranges::count_if(result.layers, [](auto& row) { return row.reused; }));
}

}  // namespace systole::test
