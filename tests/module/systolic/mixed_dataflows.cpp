// SPDX-License-Identifier: Apache-2.0
// Arrays that are set up for another dataflow between layers, cycle by cycle.
#include <catch2/catch.hpp>

#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/program/program_reader.h"
#include "tests/module/systolic/both_engines.h"
#include "tests/module/systolic/counts.h"
#include "tests/support/machines.h"

namespace systole::systolic {

namespace {

SystolicSpec machine_of_any(int fifo_tiles, std::int64_t dataflow_switch) {
    SystolicSpec spec = test::small_machine(4, 4);
    spec.mxu.choose_dataflow = true;
    spec.mxu.dataflow_switch = Cycles(dataflow_switch);
    spec.mxu.weight_fifo_tiles = fifo_tiles;
    return spec;
}

/// Layers of 8 x 4 x 4 (ws, is) and 4 x 8 x 4 (os), each in the dataflow that it is given.
std::string layers_of(const std::vector<std::string>& dataflows) {
    std::string text = "systole-program 2\narray dataflow=" + dataflows.front() + "\n";
    for (const std::string& dataflow : dataflows) {
        text += "layer \"" + dataflow + "\" op=matmul macs=128 compulsory_dram=80 dtype=int8";
        text += " dataflow=" + dataflow + "\n";
    }
    return text +
           "stream levels=1*0,1*0,8*4 segments=0+4\n"  // eight vectors of four
           "stream levels=1*0,1*0,4*4 segments=0+4\n"  // four of four
           "stream levels=1*0,1*0,4*8 segments=0+8\n"  // four of eight
           "load layer=0 from=dram:0 to=scratchpad:24576 rows=1 row_bytes=32 operand=weights\n"
           "load layer=0 from=dram:4096 to=scratchpad:0 rows=1 row_bytes=64 operand=activations\n";
}

std::string pass_of(int layer, const std::string& dataflow, bool fifo, int row) {
    const std::string edges = dataflow == "os"   ? "left=2:0 top=0:24576 m=4 k=8 n=4"
                              : dataflow == "is" ? "left=0:24576 top=1:0 m=4 k=4 n=8"
                              : fifo             ? "left=0:0 m=8 k=4 n=4"
                                                 : "left=0:0 top=1:24576 m=8 k=4 n=4";
    return "mxu0 layer=" + std::to_string(layer) + " " + edges + " accumulator=" + std::to_string(row) +
           " mode=set tile=next dtype=int8 after=load:2\n";
}

std::string fetch_of(int layer) {
    return "weights0 layer=" + std::to_string(layer) +
           " from=scratchpad:24576 to=weight_fifo:0 rows=1 row_bytes=16 operand=weights after=load:2\n";
}

/// The drain of `rows` x 4 accumulators and its store.
std::string leave(int layer, int row, int rows) {
    const std::string count = std::to_string(layer + 1);
    return "vector layer=" + std::to_string(layer) + " elements=" + std::to_string(4 * rows) +
           " lane_cycles=" + std::to_string(4 * rows) +
           " read=0 written=32 macs=0 operand=outputs mxu=0 accumulator=" + std::to_string(row) +
           " rows=" + std::to_string(rows) + " cols=4 after=mxu0:" + count +
           "\nstore layer=" + std::to_string(layer) +
           " from=scratchpad:49152 to=dram:8192 rows=1 row_bytes=32 operand=outputs after=vector:" + count +
           "\n";
}

std::string ws_then_os() {
    return layers_of({"ws", "os"}) + pass_of(0, "ws", false, 0) + leave(0, 0, 8) +
           pass_of(1, "os", false, 16) + leave(1, 16, 4);
}

}  // namespace

// cycle        3      7             15      21         31            39       49     53   54   55
// shift        |weights.......|
// pass                |8 vectors....|drain..|
// array                                     |set up....|
// pass                                                 |8 vectors....|2R+C-2..|
// vector                                    |8 rows.|pipe|                    |4 rows|pipe|
// store                                                                                   |read|
TEST_CASE("the array drains, is set up, and then takes the pass of another dataflow", "[machine]") {
    const DeviceResult result = run_on_both_engines(machine_of_any(0, 10), ws_then_os());
    CHECK(result.total.cycles == Cycles(55));
    CHECK(cycles_of(result.total, SlotClass::Useful) == 8 + 8);
    // The shift, the first drain, the change, and the second pass's way out.
    CHECK(cycles_of(result.total, SlotClass::Ramp) == 4 + 6 + 10 + 10);
    CHECK(cycles_of(result.total, SlotClass::Vector) == 5);
    CHECK(cycles_of(result.total, SlotClass::Launch) == 2);
    CHECK(cycles_of(result.total, SlotClass::OnChip) == 2);
    CHECK(counter(result, "dataflow_switches") == 1);
    CHECK(counter(result, "pending_ramp") == (4 + 6 + 10) * 1000);
    CHECK(run_on_both_engines(machine_of_any(0, 0), ws_then_os()).total.cycles == Cycles(45));
}

TEST_CASE("an array is set up for a command that still waits for its operands", "[machine]") {
    // The second pass waits for what the first layer stores, in cycle 31: the array is long set up.
    std::string text = ws_then_os();
    const auto second = text.find("mxu0 layer=1");
    text.replace(text.find("after=load:2", second), 12, "after=store:1");
    const DeviceResult early = run_on_both_engines(machine_of_any(0, 0), text);
    CHECK(run_on_both_engines(machine_of_any(0, 10), text).total.cycles == early.total.cycles);
    CHECK(run_on_both_engines(machine_of_any(0, 11), text).total.cycles == early.total.cycles + Cycles(1));
}

TEST_CASE("tiles in the weight FIFO wait until the array is set up for them", "[machine]") {
    // Both tiles are in the FIFO when the first pass runs; the second one's must not enter before its time.
    const std::string text = layers_of({"ws", "is", "ws"}) + fetch_of(0) + fetch_of(2) +
                             pass_of(0, "ws", true, 0) + leave(0, 0, 8) + pass_of(1, "is", true, 8) +
                             leave(1, 8, 8) + pass_of(2, "ws", true, 16) + leave(2, 16, 8);
    for (const int fifo_tiles : {1, 2}) {
        const DeviceResult result = run_on_both_engines(machine_of_any(fifo_tiles, 10), text);
        CHECK(counter(result, "dataflow_switches") == 2);
        CHECK(counter(result, "tiles") == 3);
        CHECK(cycles_of(result.total, SlotClass::Useful) == 3 * 8);
        // Each pass: shift, drain; twice set up.
        CHECK(cycles_of(result.total, SlotClass::Ramp) == 3 * (4 + 6) + 2 * 10);
    }
}

TEST_CASE("a program says which dataflow each layer has, and reads back equal", "[machine]") {
    const SystolicSpec spec = machine_of_any(0, 10);
    const Program program = parse_program(ws_then_os(), "test.program", spec);
    REQUIRE(program.mixes_dataflows());
    CHECK(!program.layers[0].dataflow);  // the program's own
    CHECK(program.layers[1].dataflow == Dataflow::OutputStationary);
    const Program again = parse_program(to_text(program), "again.program", spec);
    CHECK(again.layers == program.layers);
    CHECK(again.dataflow == program.dataflow);
    CHECK(to_text(again) == to_text(program));
}

TEST_CASE("layers of a dataflow that the arrays do not take, and tiles kept across one, are refused",
          "[machine]") {
    const auto mistake = [](const SystolicSpec& spec, const std::string& text) -> std::string {
        try {
            parse_program(text, "test.program", spec);
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    };
    SystolicSpec fixed = machine_of_any(0, 10);
    fixed.mxu.choose_dataflow = false;
    CHECK(mistake(fixed, ws_then_os()).find("this machine's arrays are ws") != std::string::npos);

    std::string kept = ws_then_os();
    kept.replace(kept.rfind("tile=next"), 9, "tile=keep");
    CHECK(mistake(machine_of_any(0, 10), kept).find("the pass before is of another dataflow") !=
          std::string::npos);

    const std::string fed = layers_of({"ws", "os"}) + fetch_of(1) + pass_of(1, "os", true, 0);
    CHECK(mistake(machine_of_any(2, 10), fed).find("os arrays take no tiles out of the weight FIFO") !=
          std::string::npos);
}

}  // namespace systole::systolic
