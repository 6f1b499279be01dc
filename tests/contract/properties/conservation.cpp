// SPDX-License-Identifier: Apache-2.0
// Nothing is lost and nothing is made up: slots, layers, MACs and bytes of random machines under random
// networks, summed up here, from the outside. Runs check themselves, too; this does not rely on it.
// SYSTOLE_SEED and SYSTOLE_CASES widen the search.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "sim/base/error.h"
#include "tests/support/outside_sums.h"
#include "tests/support/random_case.h"

namespace systole::test {
namespace {

using Keys = std::vector<config::Entry>;

std::int64_t sum_of(const ClassSlots& slots) {
    return std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
}

/// Slots of every row are as many as the machine has, in all of its time.
void check_slots(const DeviceResult& result, const Graph& graph, const Keys& keys) {
    std::int64_t expected = 0;
    for (const ResultRow& row : result.layers) {
        INFO("layer " << row.name);
        REQUIRE(row.time().value() >= 0);
        for (const std::int64_t slots : row.slots) CHECK(slots >= 0);
        // Of arrays all layers of these networks have one rate; of GPUs a format that tensor cores lack runs
        // on lanes, whose capacity is another matter.
        const std::string dtype(to_string(graph.tensors[graph.inputs.front()].dtype));
        const std::int64_t slots = slots_by_keys(keys, dtype);
        if (slots > 0) CHECK(sum_of(row.slots) == slots * row.time().value());
        if (row.time().value() > 0) CHECK(sum_of(row.slots) % row.time().value() == 0);
        expected += sum_of(row.slots);
    }
    CHECK(sum_of(result.total.slots) == expected);
}

void check_layers_sum_up(const DeviceResult& result) {
    ResultRow sum;
    Ticks at = result.total.begin;
    CHECK(at == Ticks(0));
    for (const ResultRow& row : result.layers) {
        CHECK(row.begin == at);
        at = row.end;
        sum.cycles += row.cycles;
        sum.macs += row.macs;
        sum.matrix_macs += row.matrix_macs;
        sum.lane_cycles += row.lane_cycles;
        sum.dram_read += row.dram_read;
        sum.dram_written += row.dram_written;
        for (std::size_t c = 0; c < kSlotClasses; ++c) sum.slots[c] += row.slots[c];
        sum.movements.insert(sum.movements.end(), row.movements.begin(), row.movements.end());
    }
    const ResultRow& total = result.total;
    CHECK(at == total.end);
    CHECK(sum.cycles == total.cycles);
    CHECK(sum.macs == total.macs);
    CHECK(sum.matrix_macs == total.matrix_macs);
    CHECK(sum.lane_cycles == total.lane_cycles);
    CHECK(sum.dram_read == total.dram_read);
    CHECK(sum.dram_written == total.dram_written);
    CHECK(sum.slots == total.slots);
    for (std::size_t from = 0; from < kPlaces; ++from)
        for (std::size_t to = 0; to < kPlaces; ++to)
            CHECK(between(sum, static_cast<Place>(from), static_cast<Place>(to)) ==
                  between(total, static_cast<Place>(from), static_cast<Place>(to)));
    // Steps of the critical path fill the run.
    Ticks path;
    for (const CriticalStep& step : result.critical_path) path += step.time;
    CHECK(path == total.time());
}

void check_macs(const DeviceResult& result, const Graph& graph) {
    std::int64_t sum = 0;
    for (const Layer& layer : graph.layers) sum += macs_by_shapes(graph, layer);
    CHECK(result.total.macs == Macs(sum));
    CHECK(result.total.matrix_macs <= result.total.macs);
}

/// Movers' entries against counters of those they moved to and from.
void check_bytes(const DeviceResult& result, Kind kind) {
    const ResultRow& row = result.total;
    CHECK(row.dram_read.value() == out_of(row, Place::Dram));
    CHECK(row.dram_written.value() == into(row, Place::Dram));
    if (kind == Kind::Systolic) {
        CHECK(counted(result, ".host_in", "bytes") == out_of(row, Place::Host));
        CHECK(counted(result, ".host_out", "bytes") == into(row, Place::Host));
        CHECK(counted(result, ".link_in", "bytes") == out_of(row, Place::ChipLink));
        CHECK(counted(result, ".link_out", "bytes") == into(row, Place::ChipLink));
        // What enters the weight FIFO leaves it for the arrays.
        CHECK(into(row, Place::WeightFifo) == out_of(row, Place::WeightFifo));
        return;
    }
    CHECK(counted(result, ".host_link", "bytes_down") == out_of(row, Place::Host));
    CHECK(counted(result, ".host_link", "bytes_up") == into(row, Place::Host));
    CHECK(counted(result, ".l2", "bytes_read") ==
          counted(result, ".l2", "bytes_hit") + counted(result, ".l2", "bytes_missed"));
    if (result.memory == "dram") {
        CHECK(counted(result, ".dram", "bytes_read") == row.dram_read.value());
        CHECK(counted(result, ".dram", "bytes_written") == row.dram_written.value());
    }
}

/// No fewer bytes than must come, no more than the memory's buses take, no less time than the work needs.
void check_floors(const DeviceResult& result, const Graph& graph, const Case& drawn, const Keys& keys) {
    const ResultRow& row = result.total;
    const bool inputs = drawn.protocol.inputs_at == Protocol::Where::Dram;
    CHECK(row.dram_read.value() >= least_read(graph, inputs));
    // Results may still lie in a cache when the run ends.
    const Bytes left(std::max(row.dram_written.value(), between(row, Place::SharedMemory, Place::L2)));
    CHECK(row.compulsory_dram <= row.dram_read + left);
    if (const double room = memory_room(keys, row.time()); room >= 0)
        CHECK(static_cast<double>((row.dram_read + row.dram_written).value()) <= room);
    CHECK(row.cycles >= row.roofline.floor());
    CHECK(row.utilization() <= 1.0);
    const std::int64_t slots =
        slots_by_keys(keys, std::string(to_string(graph.tensors[graph.inputs.front()].dtype)));
    if (slots > 0) CHECK(row.cycles.value() * slots >= row.matrix_macs.value());
}

void check_conservation(Kind kind, std::uint64_t cases_otherwise, double ran_at_least) {
    const std::uint64_t first = from_environment("SYSTOLE_SEED", 1);
    const std::uint64_t cases = from_environment("SYSTOLE_CASES", cases_otherwise);
    std::uint64_t ran = 0;
    for (std::uint64_t seed = first; seed < first + cases; ++seed) {
        const Case drawn = random_case(kind, seed);
        INFO(to_string(drawn));
        const Graph graph = graph_of(drawn);
        try {
            const Keys keys = keys_of(drawn);
            const DeviceResult result = device_of(drawn)->run(graph, {drawn.protocol}).result;
            ++ran;
            REQUIRE(result.layers.size() <= graph.layers.size());  // layers may join
            check_slots(result, graph, keys);
            check_layers_sum_up(result);
            check_macs(result, graph);
            check_bytes(result, kind);
            check_floors(result, graph, drawn, keys);
        } catch (const UserError& refused) {  // what does not fit, or what the machine cannot do
            CHECK_THAT(refused.what(), Catch::Contains("error: "));
        }
    }
    CHECK(static_cast<double>(ran) >= ran_at_least * static_cast<double>(cases));
}

}  // namespace

TEST_CASE("no slot, MAC or byte of a systolic device is lost", "[properties]") {
    check_conservation(Kind::Systolic, 120, 0.5);
}

TEST_CASE("no slot, MAC or byte of a GPU is lost", "[properties]") {
    check_conservation(Kind::Simt, 60, 0.25);
}

TEST_CASE("a matrix unit that never multiplies has as many slots as those beside it", "[properties]") {
    Case drawn;
    drawn.device = "device: Mine\nextends: tpu_v5e\n";  // four units, two MACs of int8 a PE and cycle
    drawn.trace =
        "trace: one\ninputs: {x: {shape: [8, 8], dtype: int8}}\nlayers:\n"
        "  - {name: y, op: matmul, n: 8}\noutputs: [y]\n";
    drawn.protocol = Protocol::of_op();
    const ResultRow total = device_of(drawn)->run(graph_of(drawn), {drawn.protocol}).result.total;
    CHECK(sum_of(total.slots) == 4LL * 128 * 128 * 2 * total.time().value());
}

}  // namespace systole::test
