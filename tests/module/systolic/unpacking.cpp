// SPDX-License-Identifier: Apache-2.0
// Weights that are unpacked on their way into an array, and arrays that know a pattern of zeros, cycle by
// cycle.
#include <catch2/catch.hpp>

#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/program/program_reader.h"
#include "sim/base/error.h"
#include "sim/kernel/kernel.h"
#include "sim/workload/trace.h"
#include "tests/module/systolic/both_engines.h"
#include "tests/module/systolic/counts.h"
#include "tests/support/machines.h"

namespace systole::systolic {

namespace {

/// The pass of machine.cpp: its tile is read in cycle 3, shifted from cycle 4 on, and streams from cycle 8
/// on.
std::string one_pass(const std::string& words) {
    return "systole-program 2\narray dataflow=ws\n"
           "layer \"fc\" op=matmul macs=128 compulsory_dram=80 dtype=int8\n"
           "stream levels=1*0,1*0,8*4 segments=0+4\n"
           "load layer=0 from=dram:0 to=scratchpad:24576 rows=1 row_bytes=16 operand=weights\n"
           "load layer=0 from=dram:4096 to=scratchpad:0 rows=1 row_bytes=32 operand=activations\n"
           "weights0 layer=0 from=scratchpad:24576 to=weight_fifo:0 rows=1 row_bytes=16 operand=weights "
           "after=load:1\n"
           "mxu0 layer=0 left=0:0 m=8 k=4 n=4 accumulator=0 mode=set tile=next dtype=int8" +
           words +
           " after=load:2\n"
           "vector layer=0 elements=32 lane_cycles=32 read=0 written=32 macs=0 operand=outputs mxu=0 "
           "accumulator=0 "
           "rows=8 cols=4 after=mxu0:1\n"
           "store layer=0 from=scratchpad:49152 to=dram:8192 rows=1 row_bytes=32 operand=outputs "
           "after=vector:1\n";
}

std::string mistake_in(const std::string& program, const SystolicSpec& spec) {
    try {
        parse_program(program, "test.program", spec);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

DeviceResult run_matmul(const SystolicSpec& spec, std::map<std::string, std::string> columns) {
    columns.merge(
        std::map<std::string, std::string>{{"m", "24"}, {"n", "8"}, {"k", "64"}, {"dtype", "int8"}});
    const Graph graph = single_operator("matmul", columns, {});
    // Blocks of one size, whatever the mapper would choose for each kind of weights.
    Mapping mapping;
    LayerMapping& layer = mapping.layers["matmul"];
    layer.rows = 8, layer.columns = 4, layer.depth = 64;
    const Lowered lowered = lower(graph, spec, Protocol::of_op(), {true, &mapping});
    const FreshKernel kernel;
    Machine machine("small", spec, lowered.program, {Protocol::of_op()});
    machine.run();
    CHECK_FALSE(machine.value_fault);
    return result_of(machine, spec, Protocol::of_op());
}

}  // namespace

TEST_CASE("a tile comes when its weights are unpacked, so many a cycle from when they are read",
          "[unpacking]") {
    SystolicSpec spec = test::small_machine(4, 4);
    for (const auto& [per_cycle, later] : {std::pair{16, 0}, {8, 1}, {5, 3}, {4, 3}, {1, 15}}) {
        CAPTURE(per_cycle);
        spec.mxu.unpack = per_cycle;
        const DeviceResult result = run_on_both_engines(spec, one_pass(" weights=unpacked"));
        CHECK(result.total.cycles == Cycles(32 + later));
        CHECK(cycles_of(result.total, SlotClass::OnChip) == 2 + later);
    }
    spec.mxu.unpack = 1;
    CHECK(run_on_both_engines(spec, one_pass("")).total.cycles == Cycles(32));
}

TEST_CASE("what a pass waits for its tile to be unpacked is no wait for the memory", "[unpacking]") {
    SystolicSpec spec = test::small_machine(4, 4);
    spec.mxu.weight_source = Space::Dram;
    std::string program = one_pass(" weights=unpacked");
    const std::string staged =
        "from=scratchpad:24576 to=weight_fifo:0 rows=1 row_bytes=16 operand=weights after=load:1";
    program.replace(program.find(staged), staged.size(),
                    "from=dram:0 to=weight_fifo:0 rows=1 row_bytes=16 operand=weights");
    spec.mxu.unpack = 16;
    const DeviceResult fast = run_on_both_engines(spec, program);
    spec.mxu.unpack = 1;
    const DeviceResult slow = run_on_both_engines(spec, program);
    CHECK(counter(slow, "waited") > counter(fast, "waited"));
    CHECK(counter(slow, "pending_memory") <= counter(fast, "pending_memory"));
    CHECK(counter(slow, "pending_on_chip") >= counter(fast, "pending_on_chip") + 10 * 1000);
}

TEST_CASE("a program that wants what the machine lacks is refused", "[unpacking]") {
    const SystolicSpec spec = test::small_machine(4, 4);
    CHECK_THAT(mistake_in(one_pass(" weights=unpacked"), spec),
               Catch::Contains("nothing unpacks weights here (mxu.unpack)"));
    CHECK_THAT(mistake_in(one_pass(" sparsity=2"), spec), Catch::Contains("sparsity"));
}

TEST_CASE("streams of all dataflows are held to what unpacking delivers", "[unpacking]") {
    for (const Dataflow dataflow :
         {Dataflow::WeightStationary, Dataflow::OutputStationary, Dataflow::InputStationary}) {
        SystolicSpec spec = test::small_machine(4, 4);
        spec.mxu.dataflow = dataflow;
        spec.mxu.weight_fifo_tiles = dataflow == Dataflow::WeightStationary ? 2 : 0;
        spec.mxu.rate[static_cast<std::size_t>(DType::Int8)] = MacRate{1};
        std::int64_t before = 0;
        for (const std::int64_t per_cycle : {64, 1}) {
            spec.mxu.unpack = per_cycle;
            std::vector<Cycles> cycles;
            for (const EngineKind engine : {EngineKind::Tile, EngineKind::Grid}) {
                spec.mxu.engine = engine;
                cycles.push_back(run_matmul(spec, {{"dtype_b", "int4"}}).total.cycles);
            }
            CHECK(cycles[0] == cycles[1]);
            // Weights that meet the array once are unpacked once, those that stream to each tile every time.
            const std::int64_t least =
                64 * 8 * (dataflow == Dataflow::WeightStationary ? 1 : 24 / 4) / per_cycle;
            CHECK(cycles[0].value() >= least);
            if (per_cycle == 1) CHECK(cycles[0].value() > before);
            before = cycles[0].value();
        }
    }
}

TEST_CASE("an array that knows the pattern does half the passes, and counts no product with a zero",
          "[unpacking]") {
    SystolicSpec spec = test::small_machine(4, 4);
    spec.mxu.unpack = 64;
    const DeviceResult dense = run_matmul(spec, {});
    const DeviceResult filled = run_matmul(spec, {{"sparsity", "2:4"}});
    spec.mxu.sparse_kept = 2, spec.mxu.sparse_of = 4;
    const DeviceResult known = run_matmul(spec, {{"sparsity", "2:4"}});
    constexpr std::int64_t kProducts = 24 * 8 * 64;
    constexpr auto kUseful = static_cast<std::size_t>(SlotClass::Useful);
    constexpr auto kPadding = static_cast<std::size_t>(SlotClass::Padding);
    CHECK(dense.total.slots[kUseful] == kProducts * 1000);
    for (const DeviceResult* sparse : {&filled, &known}) {
        CHECK(sparse->total.macs == Macs(kProducts / 2));
        CHECK(sparse->total.slots[kUseful] == kProducts / 2 * 1000);
        CHECK(counter(*sparse, "macs") == kProducts / 2);
    }
    CHECK(filled.total.slots[kPadding] == kProducts / 2 * 1000);
    CHECK(known.total.slots[kPadding] == 0);
    CHECK(counter(filled, "passes") == counter(dense, "passes"));
    CHECK(2 * counter(known, "passes") == counter(dense, "passes"));
    CHECK(counter(known, "filter_reads") == counter(filled, "filter_reads") / 2);
    CHECK(known.total.cycles < filled.total.cycles);
}

}  // namespace systole::systolic
