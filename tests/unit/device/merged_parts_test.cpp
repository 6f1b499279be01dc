// SPDX-License-Identifier: Apache-2.0
// One row for each layer of a network that ran part by part: a, b for half of the batch, a, b for the other
// half, then out; every row with numbers of its own.
#include "sim/device/merged_parts.h"

#include <catch2/catch.hpp>

#include "sim/workload/sliced_graph.h"
#include "tests/unit/workload/graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

Graph network() {
    return graph_of(trace_of("[4, 8]",
                             "  - {name: a, op: matmul, n: 8}\n"
                             "  - {name: b, op: matmul, n: 8}\n"
                             "  - {name: out, op: matmul, n: 2}\n"));
}

ResultRow row(const std::string& name, Ticks begin, Ticks end, const std::string& bound) {
    ResultRow made;
    made.name = name;
    made.op = "matmul";
    made.mapping = "one array";
    made.begin = begin;
    made.end = end;
    made.bound_by = bound;
    return made;
}

/// a[1/2] 30, b[1/2] 10, a[2/2] 20, b[2/2] 25, out 15 ticks, one behind the other.
DeviceResult ran() {
    DeviceResult result;
    result.layers = {
        row("a[1/2]", Ticks(0), Ticks(30), "memory"), row("b[1/2]", Ticks(30), Ticks(40), "host"),
        row("a[2/2]", Ticks(40), Ticks(60), "compute"), row("b[2/2]", Ticks(60), Ticks(85), "compute"),
        row("out", Ticks(85), Ticks(100), "issue")};
    return result;
}

}  // namespace

TEST_CASE("rows of a layer's parts become one, in the order of the network, and follow each other") {
    const Graph sliced = slice_batch(network(), {{0, 2, 2}});
    DeviceResult result = ran();
    Timeline timeline;
    merge_parts(sliced, result, timeline);
    REQUIRE(result.layers.size() == 3);
    CHECK(result.layers[0].name == "a");
    CHECK(result.layers[0].mapping == "one array; in 2 slices of the batch");
    CHECK(result.layers[0].begin == Ticks(0));
    CHECK(result.layers[0].end == Ticks(50));
    CHECK(result.layers[1].name == "b");
    CHECK(result.layers[1].begin == Ticks(50));
    CHECK(result.layers[1].end == Ticks(85));
    CHECK(result.layers[2].name == "out");
    CHECK(result.layers[2].mapping == "one array");
    CHECK(result.layers[2].begin == Ticks(85));
    CHECK(result.layers[2].end == Ticks(100));
}

TEST_CASE("what parts did is added, movements by where and what") {
    const Graph sliced = slice_batch(network(), {{0, 2, 2}});
    DeviceResult result = ran();
    ResultRow &first = result.layers[0], &second = result.layers[2];
    const auto useful = static_cast<std::size_t>(SlotClass::Useful),
               memory = static_cast<std::size_t>(SlotClass::Memory);
    first.cycles = Cycles(3), second.cycles = Cycles(2);
    first.macs = Macs(100), second.macs = Macs(11);
    first.matrix_macs = Macs(90), second.matrix_macs = Macs(9);
    first.lane_cycles = 7, second.lane_cycles = 70;
    first.slots[useful] = 5, second.slots[useful] = 6, second.slots[memory] = 1;
    second.utilization_slots = 12;
    first.dram_read = Bytes(64), second.dram_read = Bytes(32), second.dram_written = Bytes(8);
    first.compulsory_dram = Bytes(40), second.compulsory_dram = Bytes(2);
    first.roofline.cycles[0] = Cycles(10), second.roofline.cycles[0] = Cycles(20);
    first.movements = {{Place::Dram, Place::Scratchpad, Operand::Weights, Bytes(64)}};
    second.movements = {{Place::Scratchpad, Place::Dram, Operand::Weights, Bytes(8)},
                        {Place::Dram, Place::Scratchpad, Operand::Weights, Bytes(32)}};
    second.reused = true;
    Timeline timeline;
    merge_parts(sliced, result, timeline);
    const ResultRow& a = result.layers[0];
    CHECK(a.cycles == Cycles(5));
    CHECK(a.macs == Macs(111));
    CHECK(a.matrix_macs == Macs(99));
    CHECK(a.lane_cycles == 77);
    CHECK(a.slots[useful] == 11);
    CHECK(a.slots[memory] == 1);
    CHECK(a.utilization_slots == 12);
    CHECK(a.dram_read == Bytes(96));
    CHECK(a.dram_written == Bytes(8));
    CHECK(a.compulsory_dram == Bytes(42));
    CHECK(a.roofline.cycles[0] == Cycles(30));
    CHECK(a.reused);
    REQUIRE(a.movements.size() == 2);
    CHECK(a.movements[0].bytes == Bytes(96));
    CHECK(a.movements[1].to == Place::Dram);
    CHECK(a.movements[1].bytes == Bytes(8));
    CHECK(!result.layers[1].utilization_slots);
    CHECK(!result.layers[1].reused);
}

TEST_CASE("a layer is bound by what bounds most of its parts' time, of equals by the first") {
    const Graph sliced = slice_batch(network(), {{0, 2, 2}});
    DeviceResult result = ran();
    Timeline timeline;
    merge_parts(sliced, result, timeline);
    CHECK(result.layers[0].bound_by == "memory");   // 30 of 50
    CHECK(result.layers[1].bound_by == "compute");  // 25 of 35
    DeviceResult even = ran();
    even.layers[0].end = Ticks(20);
    merge_parts(sliced, even, timeline);
    CHECK(even.layers[0].bound_by == "memory");
}

TEST_CASE("of a layer in many parts it is the sum of their times that counts") {
    const Graph sliced = slice_batch(network(), {{0, 1, 4}});
    DeviceResult result;
    const auto add = [&](Ticks time, const std::string& bound) {
        const Ticks begin = result.layers.empty() ? Ticks(0) : result.layers.back().end;
        result.layers.push_back(row("part", begin, begin + time, bound));
    };
    add(Ticks(10), "memory"), add(Ticks(6), "compute"), add(Ticks(1), "host"), add(Ticks(6), "compute");
    add(Ticks(1), "memory"), add(Ticks(1), "memory");  // b and out
    Timeline timeline;
    merge_parts(sliced, result, timeline);
    CHECK(result.layers.front().bound_by == "compute");
}

TEST_CASE("spans are given their layer's new number") {
    const Graph sliced = slice_batch(network(), {{0, 2, 2}});
    DeviceResult result = ran();
    Timeline timeline;
    for (const std::int32_t layer : {-1, 0, 1, 2, 3, 4})
        timeline.spans.push_back({"mxu", "pass", Ticks(0), Ticks(1), layer});
    merge_parts(sliced, result, timeline);
    std::vector<std::int32_t> layers;
    for (const Span& span : timeline.spans) layers.push_back(span.layer);
    CHECK(layers == std::vector<std::int32_t>{-1, 0, 1, 0, 1, 2});
}

TEST_CASE("a network that ran whole keeps its rows") {
    DeviceResult result;
    result.layers = {row("a", Ticks(0), Ticks(30), "memory"), row("b", Ticks(30), Ticks(40), "host"),
                     row("out", Ticks(40), Ticks(60), "compute")};
    Timeline timeline{.spans = {{"mxu", "pass", Ticks(0), Ticks(1), 2}}};
    merge_parts(network(), result, timeline);
    REQUIRE(result.layers.size() == 3);
    CHECK(result.layers[1].name == "b");
    CHECK(result.layers[1].begin == Ticks(30));
    CHECK(timeline.spans[0].layer == 2);
}

TEST_CASE("operations of parts are counted kind by kind, and what was taken over in part is marked") {
    DeviceResult result = ran();
    result.layers[0].operations = {{"int8", 3}, {"lane", 5}};
    result.layers[1].operations = {{"lane", 7}};
    result.layers[2].operations = {{"bf16", 11}, {"int8", 2}};
    result.layers[2].reused = true;
    merge_rows(result, {0, 1, 0, 1, 2});
    REQUIRE(result.layers.size() == 3);
    const auto counted = [&](std::size_t layer) {
        std::vector<std::pair<std::string, std::int64_t>> counts;
        for (const OperationCount& one : result.layers[layer].operations)
            counts.emplace_back(one.name, one.count);
        return counts;
    };
    using Counts = std::vector<std::pair<std::string, std::int64_t>>;
    CHECK(counted(0) == Counts{{"int8", 5}, {"lane", 5}, {"bf16", 11}});
    CHECK(counted(1) == Counts{{"lane", 7}});
    CHECK(counted(2).empty());
    CHECK(result.layers[0].reused);
    CHECK_FALSE(result.layers[1].reused);
}
