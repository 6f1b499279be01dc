// SPDX-License-Identifier: Apache-2.0
// Hand-made programs on a small machine, cycle by cycle.
#include "models/devices/systolic/machine/machine.h"

#include <catch2/catch.hpp>

#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/program/program_reader.h"
#include "sim/kernel/kernel.h"
#include "sim/kernel/stuck.h"
#include "tests/module/systolic/counts.h"
#include "tests/support/machines.h"

namespace systole::systolic {
namespace {

DeviceResult run(const SystolicSpec& spec, const std::string& text,
                 const Protocol& protocol = Protocol::of_op()) {
    const Program program = parse_program(text, "test.program", spec);
    const FreshKernel kernel;
    Machine machine("small", spec, program, {protocol});
    machine.run();
    return result_of(machine, spec, protocol);
}

constexpr const char* kOnePass = R"(systole-program 2
trace "one pass"
array dataflow=ws
layer "fc" op=matmul macs=128 compulsory_dram=80 dtype=int8 mapping="by hand"
stream levels=1*0,1*0,8*4 segments=0+4
load layer=0 from=dram:0 to=scratchpad:24576 rows=1 row_bytes=16 operand=weights
load layer=0 from=dram:4096 to=scratchpad:0 rows=1 row_bytes=32 operand=activations
weights0 layer=0 from=scratchpad:24576 to=weight_fifo:0 rows=1 row_bytes=16 operand=weights after=load:1
mxu0 layer=0 left=0:0 m=8 k=4 n=4 accumulator=0 mode=set tile=next dtype=int8 after=load:2
vector layer=0 elements=32 lane_cycles=32 read=0 written=32 macs=0 operand=outputs mxu=0 accumulator=0 rows=8 cols=4 after=mxu0:1
store layer=0 from=scratchpad:49152 to=dram:8192 rows=1 row_bytes=32 operand=outputs after=vector:1
)";

}  // namespace

// cycle        0    1    2    3    4         8             16       22        30   31   32
// sequencer    |ldW |ldA |wgt |mxu |vec |sto
// load              |W   |A   |
// weights                     |read|
// shift                            |weights..|
// pass                                       |8 vectors....|drain...|
// vector                                                            |8 rows...|pipe|
// store                                                                            |read|
TEST_CASE("one pass through the whole machine takes the cycles worked out by hand", "[machine]") {
    const DeviceResult result = run(test::small_machine(4, 4), kOnePass);
    CHECK(result.total.cycles == Cycles(32));
    CHECK(result.total.end == Ticks(32'000));
    CHECK(cycles_of(result.total, SlotClass::Launch, 16) == 3);    // until the weight read is issued
    CHECK(cycles_of(result.total, SlotClass::OnChip, 16) == 2);    // that read, and the last store's
    CHECK(cycles_of(result.total, SlotClass::Ramp, 16) == 4 + 6);  // shift, drain
    CHECK(cycles_of(result.total, SlotClass::Useful, 16) == 8);
    CHECK(cycles_of(result.total, SlotClass::Vector, 16) == 9);
    CHECK(result.total.capacity() == 32 * 16 * 1000);
    CHECK(result.total.dram_read == Bytes(48));
    CHECK(result.total.dram_written == Bytes(32));
}

TEST_CASE("a tile edge is padding, not work", "[machine]") {
    std::string text = kOnePass;
    text.replace(text.find("m=8 k=4 n=4"), 11, "m=8 k=3 n=2");
    text.replace(text.find("macs=128"), 8, "macs=48");
    const DeviceResult result = run(test::small_machine(4, 4), text);
    CHECK(result.total.slots[static_cast<std::size_t>(SlotClass::Useful)] == 8 * 6 * 1000);
    CHECK(result.total.slots[static_cast<std::size_t>(SlotClass::Padding)] == 8 * 10 * 1000);
}

// The pass of above from cycle 8 on, a vector every other cycle: the last one enters at 22 and keeps its PEs
// until 24, its sums leave at 29.
TEST_CASE("a PE that takes two cycles for a MAC keeps each vector for two cycles", "[machine]") {
    SystolicSpec spec = test::small_machine(4, 4);
    spec.mxu.rate[static_cast<std::size_t>(DType::Int8)] = MacRate{1, 2};
    const DeviceResult result = run(spec, kOnePass);
    CHECK(result.total.cycles == Cycles(32 + 7));
    CHECK(cycles_of(result.total, SlotClass::Useful, 16) == 16);
    CHECK(cycles_of(result.total, SlotClass::Ramp, 16) == 4 + 5);
    CHECK(result.peaks.macs == MacRate{8});
    CHECK(result.total.capacity() == 39 * 16 * 1000);
    CHECK(result.total.roofline.at(Level::Compute) == Cycles(16));
    spec.mxu.engine = EngineKind::Grid;
    const DeviceResult grid = run(spec, kOnePass);
    CHECK(grid.total.cycles == result.total.cycles);
    CHECK(grid.total.slots == result.total.slots);
}

TEST_CASE("the rate of a pass is that of both its formats", "[machine]") {
    SystolicSpec spec = test::small_machine(4, 4);
    spec.mxu.rate[static_cast<std::size_t>(DType::Int16)] = MacRate{1, 4};
    spec.mxu.mixed_rate[{DType::Int16, DType::Int8}] = MacRate{1, 2};
    const auto streamed = [&](const std::string& formats) {
        std::string text = kOnePass;
        for (std::size_t at = text.find("dtype=int8"); at != std::string::npos;
             at = text.find("dtype=int8", at + 1))
            text.replace(at, 10, formats), at += formats.size();
        return cycles_of(run(spec, text).total, SlotClass::Useful, 16);
    };
    CHECK(streamed("dtype=int8") == 8);
    CHECK(streamed("dtype=int16 second_dtype=int8") == 16);
    CHECK(streamed("dtype=int8 second_dtype=int16") == 32);  // nothing said of this pair: the slower one's
    CHECK(streamed("dtype=int16") == 32);
}

TEST_CASE("the host link owns the wait for an input that comes over it", "[machine]") {
    std::string text = kOnePass;
    text.replace(text.find("load layer=0 from=dram:4096"), 27, "host_in layer=0 from=host:0");
    text.replace(text.find("after=load:2"), 12, "after=host_in:1");
    const DeviceResult result = run(test::small_machine(4, 4), text, Protocol::of_run());
    // 32 bytes at 16 GB/s take 2 ns behind 10 ns of latency: issued at 2, there at 14, one cycle into the
    // scratchpad; the pass starts at 15 instead of 8.
    CHECK(result.total.cycles == Cycles(32 + 7));
    CHECK(cycles_of(result.total, SlotClass::Host, 16) == 12);
}

TEST_CASE("a program whose tokens never come stands still and says who waits for whom", "[machine]") {
    std::string text = kOnePass;
    text.replace(text.find("after=mxu0:1"), 12, "after=mxu0:2");
    CHECK_THROWS_WITH(
        run(test::small_machine(4, 4), text),
        Catch::Contains("vector #0 (fc) waits for mxu0 to complete 2 commands; it has completed 1") &&
            Catch::Contains("store #0 (fc) waits for vector"));
}

TEST_CASE("launches are paid where the protocol asks for them", "[machine]") {
    Protocol protocol = Protocol::of_op();
    protocol.launch = Protocol::Launch::Graph;
    const DeviceResult result = run(test::small_machine(4, 4), kOnePass, protocol);
    CHECK(result.total.cycles == Cycles(132));
    CHECK(cycles_of(result.total, SlotClass::Launch, 16) == 103);
}

TEST_CASE("both engines give the same result", "[machine]") {
    SystolicSpec spec = test::small_machine(4, 4);
    const DeviceResult tile = run(spec, kOnePass);
    spec.mxu.engine = EngineKind::Grid;
    const DeviceResult grid = run(spec, kOnePass);
    CHECK(tile.total.cycles == grid.total.cycles);
    CHECK(tile.total.slots == grid.total.slots);
}

}  // namespace systole::systolic
