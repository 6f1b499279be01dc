// SPDX-License-Identifier: Apache-2.0
// The whole machine on memories that are not ours.
#include <catch2/catch.hpp>

#include "models/devices/systolic/lowering/lower.h"
#include "models/devices/systolic/machine/machine.h"
#include "models/devices/systolic/machine/results.h"
#include "models/devices/systolic/program/program_reader.h"
#include "sim/kernel/kernel.h"
#include "tests/module/memory/foreign_memories.h"
#include "tests/module/memory/phase_monitor.h"
#include "tests/support/machines.h"

namespace systole::systolic {
namespace {

using test::BlockingMemory;
using test::BurstMemory;
using test::PhaseMonitor;

// As in machine.cpp, where it takes 32 cycles on a memory that answers in no time.
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

/// Runs the program with `memory` in place of the specification's.
template <class Memory, class... Timing>
DeviceResult run_on(const std::string& text, const SplitterSpec& splitter, std::size_t& pieces,
                    Timing... timing) {
    const SystolicSpec spec = test::small_machine(4, 4);
    const Program program = parse_program(text, "test.program", spec);
    const FreshKernel kernel;
    Memory memory("memory", timing...);
    PhaseMonitor monitor("monitor");
    monitor.out.bind(memory.in);
    const ForeignMemory foreign{splitter, [&](auto& out) { out.bind(monitor.in); }};
    Machine machine("small", spec, program, {Protocol::of_op()}, &foreign);
    machine.run();
    CHECK(monitor.faults == std::vector<std::string>{});
    CHECK(monitor.quiet());
    pieces = memory.seen.size();
    return result_of(machine, spec, Protocol::of_op());  // holds both ends of every transfer together
}

}  // namespace

TEST_CASE("on a foreign memory without latency the machine takes as long as on an ideal one", "[machine]") {
    std::size_t pieces = 0;
    CHECK(run_on<BurstMemory>(kOnePass, {}, pieces, Ticks(0), Ticks(0)).total.cycles == Cycles(32));
    CHECK(pieces == 3);
}

TEST_CASE("a foreign memory's latency is seen once before the pass and once behind it", "[machine]") {
    // Weights and inputs are read at the same time, the outputs written at the end. The weights' tile is read
    // in cycle 102 instead of 3, until when it had to wait for its command to be issued.
    std::size_t pieces = 0;
    const DeviceResult result =
        run_on<BurstMemory>(kOnePass, {.largest = Bytes(16)}, pieces, Ticks(100'000), Ticks(0));
    CHECK(result.total.cycles.value() == 32 + 99 + 100);
    CHECK(pieces == 1 + 2 + 2);
    CHECK(result.total.dram_read == Bytes(48));
    CHECK(result.total.dram_written == Bytes(32));
}

TEST_CASE("a memory with b_transport only can be plugged in, too", "[machine]") {
    // One piece after another: weights in 1..101, inputs in 101..301, then 1 ns to write them. The pass
    // starts in cycle 302, not in 8, and the outputs take two pieces.
    std::size_t pieces = 0;
    const DeviceResult result =
        run_on<BlockingMemory>(kOnePass, {.largest = Bytes(16)}, pieces, Ticks(100'000));
    CHECK(pieces == 1 + 2 + 2);
    CHECK(result.total.cycles.value() == 32 + 302 - 8 + 200);
}

}  // namespace systole::systolic
