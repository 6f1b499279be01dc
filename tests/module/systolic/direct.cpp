// SPDX-License-Identifier: Apache-2.0
// Arrays that take their operands straight out of the scratchpad, cycle by cycle.
#include <catch2/catch.hpp>

#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/program/program_reader.h"
#include "sim/kernel/kernel.h"
#include "tests/module/systolic/both_engines.h"
#include "tests/module/systolic/counts.h"
#include "tests/support/machines.h"

namespace systole::systolic {

namespace {

SystolicSpec direct_machine(Dataflow dataflow, bool shadow_register = true) {
    SystolicSpec spec = test::small_machine(4, 4);
    spec.mxu.dataflow = dataflow;
    spec.mxu.weight_fifo_tiles = 0;
    spec.mxu.shadow_register = shadow_register;
    return spec;
}

/// Two loads, passes that wait for both, the drain of `rows` x 4 accumulators and its store.
std::string program_of(const std::string& dataflow, int macs, const std::string& passes, int rows) {
    return "systole-program 2\narray dataflow=" + dataflow +
           "\nlayer \"fc\" op=matmul macs=" + std::to_string(macs) +
           " compulsory_dram=80 dtype=int8\n"
           "stream levels=1*0,1*0,8*4 segments=0+4\n"  // eight vectors of four
           "stream levels=1*0,1*0,4*4 segments=0+4\n"  // four of four
           "stream levels=1*0,1*0,4*8 segments=0+8\n"  // four of eight
           "load layer=0 from=dram:0 to=scratchpad:24576 rows=1 row_bytes=32 operand=weights\n"
           "load layer=0 from=dram:4096 to=scratchpad:0 rows=1 row_bytes=64 operand=activations\n" +
           passes + "vector layer=0 elements=" + std::to_string(4 * rows) +
           " lane_cycles=" + std::to_string(4 * rows) +
           " read=0 written=32 macs=0 operand=outputs mxu=0 accumulator=0 rows=" + std::to_string(rows) +
           " cols=4 after=mxu0:" + (passes.find("mxu0", 1) == std::string::npos ? "1" : "2") +
           "\nstore layer=0 from=scratchpad:49152 to=dram:8192 rows=1 row_bytes=32 operand=outputs "
           "after=vector:1\n";
}

constexpr const char* kWs =
    "mxu0 layer=0 left=0:0 top=1:24576 m=8 k=4 n=4 accumulator=0 mode=set tile=next dtype=int8 "
    "after=load:2\n";

}  // namespace

// cycle        0    1    2    3              7             15      21          30   31
// sequencer    |ldW |ldA |mxu |vec |sto
// load              |W   |A   |
// shift                       |weights.......|
// pass                                       |8 vectors....|drain..|
// vector                                                           |8 rows.|pipe|
// store                                                                         |read|
TEST_CASE("without a FIFO the tile is shifted in once the pass has its tokens", "[machine]") {
    const DeviceResult result =
        run_on_both_engines(direct_machine(Dataflow::WeightStationary), program_of("ws", 128, kWs, 8));
    CHECK(result.total.cycles == Cycles(31));
    CHECK(cycles_of(result.total, SlotClass::Launch) == 2);  // until the second load is issued
    CHECK(cycles_of(result.total, SlotClass::OnChip) == 2);  // that load, and the store
    CHECK(cycles_of(result.total, SlotClass::Ramp) == 4 + 6);
    CHECK(cycles_of(result.total, SlotClass::Useful) == 8);
    CHECK(cycles_of(result.total, SlotClass::Vector) == 9);
    CHECK(counter(result, "ifmap_reads") == 8 * 4);
    CHECK(counter(result, "filter_reads") == 4 * 4);
    CHECK(counter(result, "ofmap_writes") == 8 * 4);
}

TEST_CASE("a port that needs longer than the shift makes the tile that much later", "[machine]") {
    SystolicSpec spec = direct_machine(Dataflow::WeightStationary);
    spec.scratchpad.weight_port_bytes = Bytes(4);  // 16 bytes in the four cycles of the shift
    CHECK(run_on_both_engines(spec, program_of("ws", 128, kWs, 8)).total.cycles == Cycles(31));
    spec.scratchpad.weight_port_bytes = Bytes(2);
    const DeviceResult result = run_on_both_engines(spec, program_of("ws", 128, kWs, 8));
    CHECK(result.total.cycles == Cycles(31 + 4));
    CHECK(cycles_of(result.total, SlotClass::OnChip) == 2 + 4);
}

TEST_CASE("inputs stay while weights stream, and results leave turned", "[machine]") {
    const std::string pass =
        "mxu0 layer=0 left=0:24576 top=1:0 m=4 k=4 n=8 accumulator=0 mode=set tile=next dtype=int8 "
        "after=load:2\n";
    const DeviceResult result =
        run_on_both_engines(direct_machine(Dataflow::InputStationary), program_of("is", 128, pass, 8));
    CHECK(result.total.cycles == Cycles(31));  // the same array with its operands exchanged
    CHECK(counter(result, "ifmap_reads") == 4 * 4);
    CHECK(counter(result, "filter_reads") == 4 * 8);
    for (const Movement& m : result.total.movements) {
        if (m.to != Place::Array) continue;
        CHECK(m.from == Place::Scratchpad);
        CHECK(m.bytes == Bytes(m.operand == Operand::Weights ? 32 : 16));
    }
}

// cycle        0    1    2    3             11         14         18    21      25   26   27
// pass                        |8 vectors....|           |out of column 0 |
//                                                                   |… 3 |
// vector                                                                 |4 rows|pipe|
TEST_CASE("outputs stay while both operands stream, and are shifted out", "[machine]") {
    const std::string pass =
        "mxu0 layer=0 left=2:0 top=0:24576 m=4 k=8 n=4 accumulator=0 mode=set tile=next dtype=int8 "
        "after=load:2\n";
    const DeviceResult result =
        run_on_both_engines(direct_machine(Dataflow::OutputStationary), program_of("os", 128, pass, 4));
    CHECK(result.total.cycles == Cycles(27));
    CHECK(cycles_of(result.total, SlotClass::Useful) == 8);
    CHECK(cycles_of(result.total, SlotClass::Ramp) == 2 * 4 + 4 - 2);  // T + 2R + C - 2 in all
    CHECK(cycles_of(result.total, SlotClass::Vector) == 5);

    SystolicSpec slow = direct_machine(Dataflow::OutputStationary);
    slow.scratchpad.weight_port_bytes = Bytes(2);  // 32 bytes of weights in 16 cycles
    const DeviceResult starved = run_on_both_engines(slow, program_of("os", 128, pass, 4));
    CHECK(starved.total.cycles == Cycles(27 + 7));  // the last of eight vectors enters seven cycles later
    CHECK(cycles_of(starved.total, SlotClass::OnChip) == 2 + 8);

    SystolicSpec peer = direct_machine(Dataflow::OutputStationary);
    peer.faults.os_without_shift_out = true;
    CHECK(run_on_both_engines(peer, program_of("os", 128, pass, 4)).total.cycles == Cycles(27 - 4));
}

// cycle        3    5         7    9
// pass         |2...|         |2...|: the last vectors are fed in cycles 4 and 8, R apart
TEST_CASE("results that leave in no time still hold back the next short tile, as ramp", "[machine]") {
    const std::string pass = "mxu0 layer=0 left=3:0 top=4:24576 m=4 k=2 n=4 mode=set tile=next dtype=int8 ";
    std::string text =
        program_of("os", 64, pass + "accumulator=0 after=load:2\n" + pass + "accumulator=4 m0=4\n", 8);
    text.insert(text.find("load"),
                "stream levels=1*0,1*0,4*8 segments=0+2\n"
                "stream levels=1*0,1*0,2*4 segments=0+4\n");
    for (const bool without_shift_out : {false, true}) {
        SystolicSpec spec = direct_machine(Dataflow::OutputStationary);
        spec.faults.os_without_shift_out = without_shift_out;
        const DeviceResult result = run_on_both_engines(spec, text);
        CHECK(cycles_of(result.total, SlotClass::Useful) == 2 + 2);
        // Between the passes; then R + C - 2 until the last sum, behind R more to shift it out.
        CHECK(cycles_of(result.total, SlotClass::Ramp) == 2 + 6 + (without_shift_out ? 0 : 4));
        CHECK(cycles_of(result.total, SlotClass::OnChip) == 2);  // the second load, and the store
    }
}

TEST_CASE("a run of folds that takes longer than can be accounted for is refused", "[machine]") {
    SystolicSpec spec = direct_machine(Dataflow::WeightStationary);
    Program program = parse_program(program_of("ws", 128, kWs, 8), "test.program", spec);
    MatrixPass& pass = program.passes.at(0);
    pass.m = pass.left.vectors = program.streams[pass.left.stream].levels[2].count = 1'000'000'000;
    pass.folds = 1 << 20;
    spec.mxu.accumulator_rows = 1 << 30;
    REQUIRE(Int128{pass.m} * pass.folds * 1000 * spec.pes() > Ticks::max().value());
    const FreshKernel kernel;
    Machine machine("small", spec, program, {Protocol::of_op()});
    CHECK_THROWS_WITH(machine.run(), Catch::Contains("more than can be accounted for"));
}

TEST_CASE("folds without a shadow register take 2R + C + T - 2 cycles each, as a run or one by one",
          "[machine]") {
    const std::string run_of_two =
        "mxu0 layer=0 left=0:0+32 top=1:24576+16 m=8 k=4 n=4 folds=2 accumulator=0 mode=set tile=next "
        "dtype=int8 after=load:2\n";
    const std::string two = std::string(kWs) +
                            "mxu0 layer=0 left=0:32 top=1:24592 m=8 k=4 n=4 accumulator=0 mode=add tile=next "
                            "dtype=int8 k0=4\n";
    const SystolicSpec spec = direct_machine(Dataflow::WeightStationary, false);
    for (const std::string& passes : {run_of_two, two}) {
        const DeviceResult result = run_on_both_engines(spec, program_of("ws", 256, passes, 8));
        CHECK(result.total.cycles == Cycles(3 + 2 * 18 + 9 + 1));
        CHECK(cycles_of(result.total, SlotClass::Useful) == 16);
        CHECK(cycles_of(result.total, SlotClass::Ramp) == 2 * 10);
        CHECK(counter(result, "passes") == 2);
    }
}

TEST_CASE("with a shadow register the tile of the next fold is shifted in behind the running one",
          "[machine]") {
    const std::string run_of_two =
        "mxu0 layer=0 left=0:0+32 top=1:24576+16 m=8 k=4 n=4 folds=2 accumulator=0 mode=set tile=next "
        "dtype=int8 after=load:2\n";
    const DeviceResult result =
        run_on_both_engines(direct_machine(Dataflow::WeightStationary), program_of("ws", 256, run_of_two, 8));
    CHECK(result.total.cycles == Cycles(31 + 8));
}

}  // namespace systole::systolic
