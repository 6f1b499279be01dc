// SPDX-License-Identifier: Apache-2.0
// One pass through a small machine, register by register, as the drawing of models/devices/systolic/mxu has
// it: what must be in which PE in which cycle is written down here from the dataflow, not asked of an engine.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "models/devices/systolic/machine/operand_values.h"
#include "models/devices/systolic/program/program_reader.h"
#include "models/devices/systolic/wave/wave_probe.h"
#include "sim/kernel/kernel.h"
#include "tests/contract/wave/seen.h"
#include "tests/support/machines.h"

namespace systole::systolic {
namespace {

constexpr int kRows = 4, kCols = 3, kVectors = 8;
constexpr std::int64_t kCycles = 33;

// The weights are shifted in from cycle 4 on, the pass starts in cycle 8 (tests/module/systolic/machine.cpp).
constexpr std::int64_t kShift = 4, kStart = 8;

constexpr const char* kOnePass = R"(systole-program 2
trace "one pass"
array dataflow=ws
layer "fc" op=matmul macs=96 compulsory_dram=68 dtype=int8 mapping="by hand"
stream levels=1*0,1*0,8*4 segments=0+4
load layer=0 from=dram:0 to=scratchpad:24576 rows=1 row_bytes=12 operand=weights
load layer=0 from=dram:4096 to=scratchpad:0 rows=1 row_bytes=32 operand=activations
weights0 layer=0 from=scratchpad:24576 to=weight_fifo:0 rows=1 row_bytes=12 operand=weights after=load:1
mxu0 layer=0 left=0:0 m=8 k=4 n=3 accumulator=5 mode=set tile=next dtype=int8 after=load:2
vector layer=0 elements=24 lane_cycles=24 read=0 written=24 macs=0 operand=outputs mxu=0 accumulator=5 rows=8 cols=3 after=mxu0:1
store layer=0 from=scratchpad:49152 to=dram:8192 rows=1 row_bytes=24 operand=outputs after=vector:1
)";

std::int64_t activation(std::int64_t t, std::int64_t k) {
    return activation_value(0, 0, t, k);
}
std::int64_t weight(std::int64_t k, std::int64_t n) {
    return weight_value(0, 0, k, n);
}
std::int64_t sum_down_to(int row, std::int64_t t, int col) {
    std::int64_t sum = 0;
    for (int k = 0; k <= row; ++k) sum += activation(t, k) * weight(k, col);
    return sum;
}

test::Seen record(std::int64_t first, std::int64_t end, const std::vector<std::string>& patterns = {}) {
    SystolicSpec spec = test::small_machine(kRows, kCols);
    spec.mxu.engine = EngineKind::Grid;
    const Program program = parse_program(kOnePass, "test.program", spec);
    test::Seen seen;
    const FreshKernel kernel;
    Machine machine("m", spec, program, {Protocol::of_op()});
    WaveRecorder recorder(SignalFilter(patterns), {machine.clock, Cycles(first), Cycles(end)}, seen);
    WaveProbe probe(machine, spec, recorder);
    probe.record(recorder);
    return seen;
}

/// Signal `name` of PE(row, col).
std::string pe(int row, int col, const char* name) {
    return fmt::format("m.mxu0.pe_{}_{}.{}", row, col, name);
}

}  // namespace

TEST_CASE("every PE multiplies vector t in cycle start + t + row + column, with the sum that must be",
          "[wave]") {
    const test::Seen seen = record(0, kCycles);
    for (int row = 0; row < kRows; ++row)
        for (int col = 0; col < kCols; ++col)
            for (std::int64_t cycle = 0; cycle < kCycles; ++cycle) {
                INFO("PE(" << row << "," << col << ") in cycle " << cycle);
                const std::int64_t t = cycle - kStart - row - col;
                const bool busy = t >= 0 && t < kVectors;
                REQUIRE(seen.at(pe(row, col, "valid"), cycle) == busy);
                REQUIRE(seen.at(pe(row, col, "moving"), cycle) == (busy ? activation(t, row) : 0));
                if (busy) {
                    REQUIRE(seen.at(pe(row, col, "sum"), cycle) == sum_down_to(row, t, col));
                    REQUIRE(seen.at(pe(row, col, "stationary"), cycle) == weight(row, col));
                    REQUIRE(seen.at(pe(row, col, "real"), cycle) == 1);
                }
            }
}

TEST_CASE("weights come down the shadow registers, bottom row first, and swap with the first vector",
          "[wave]") {
    const test::Seen seen = record(0, kCycles);
    for (int row = 0; row < kRows; ++row)
        for (int col = 0; col < kCols; ++col) {
            INFO("PE(" << row << "," << col << ")");
            // Row r of the tile enters row 0 in step R - 1 - r and is then one row deeper in every cycle.
            for (int step = row; step < kRows; ++step)
                CHECK(seen.at(pe(row, col, "shadow"), kShift + step + col) ==
                      weight(kRows - 1 - step + row, col));
            CHECK(seen.at(pe(row, col, "stationary"), kStart + row + col - 1) == 0);
            CHECK(seen.at(pe(row, col, "stationary"), kStart + row + col) == weight(row, col));
        }
}

TEST_CASE("edges and accumulators show what the array takes and gives", "[wave]") {
    const test::Seen seen = record(0, kCycles);
    for (std::int64_t t = 0; t < kVectors; ++t) {
        for (int row = 0; row < kRows; ++row) {
            CHECK(seen.at(fmt::format("m.mxu0.left.row_{}", row), kStart + t + row) == activation(t, row));
            CHECK(seen.at(fmt::format("m.mxu0.left.valid_{}", row), kStart + t + row) == 1);
        }
        for (int col = 0; col < kCols; ++col) {
            const std::int64_t leaves = kStart + t + kRows - 1 + col, whole = sum_down_to(kRows - 1, t, col);
            CHECK(seen.at(fmt::format("m.mxu0.bottom.col_{}", col), leaves) == whole);
            CHECK(seen.at(fmt::format("m.mxu0.bottom.valid_{}", col), leaves) == 1);
            const std::string accumulator = fmt::format("m.mxu0.acc_{}.col_{}", 5 + t, col);
            CHECK(seen.at(accumulator, leaves - 1) == 0);
            CHECK(seen.at(fmt::format("m.mxu0.written.col_{}", col), leaves) == 5 + t);
            CHECK(seen.at(accumulator, leaves) ==
                  whole);  // a latency of one cycle: it can be read at its end
        }
    }
    CHECK(seen.at("m.mxu0.left.valid_0", kStart - 1) == 0);
    CHECK(seen.at("m.mxu0.left.valid_0", kStart + kVectors) == 0);
    CHECK_FALSE(seen.has("m.mxu0.acc_4.col_0"));  // the program does not use it
    CHECK_FALSE(seen.has("m.mxu0.acc_13.col_0"));
}

// cycle        0    1    2    3    4         8             16       21        29   30   31
// sequencer    |ldW |ldA |wgt |mxu |vec |sto
// load              |W   |A   |
// weights                     |read|
// shift                            |weights..|
// pass                                       |8 vectors....|drain..|
// vector                                                           |8 rows...|pipe|
TEST_CASE("queues and states are those of the hand-drawn timeline", "[wave]") {
    const test::Seen seen = record(0, 29);
    for (std::int64_t cycle = 0; cycle < 29; ++cycle) {
        INFO("cycle " << cycle);
        CHECK(seen.at("m.sequencer.state", cycle) == (cycle < 6 ? 1 : 0));
        CHECK(seen.at("m.sequencer.command", cycle) == (cycle < 6 ? cycle : kNoWaveValue));
        CHECK(seen.at("m.load.busy", cycle) == (cycle == 1 || cycle == 2));
        CHECK(seen.at("m.mxu0.weights.busy", cycle) == (cycle == 3));
        CHECK(seen.at("m.mxu0.fifo", cycle) == (cycle >= 4 && cycle < 8));
        CHECK(seen.at("m.mxu0.queue", cycle) == (cycle >= 4 && cycle < 8));
        CHECK(seen.at("m.mxu0.streaming", cycle) == (cycle >= 8 && cycle < 16));
        CHECK(seen.at("m.mxu0.pass", cycle) == (cycle >= 8 && cycle < 16 ? 3 : kNoWaveValue));
        CHECK(seen.at("m.scratchpad.stream_port_0", cycle) == (cycle >= 8 && cycle < 16));
        CHECK(seen.at("m.mxu0.passes", cycle) == (cycle >= 8 && cycle < 21));
        CHECK(seen.at("m.vector.busy", cycle) == (cycle >= 21));
        CHECK(seen.at("m.vector.queue", cycle) == (cycle >= 5 && cycle < 21));
    }
}

TEST_CASE("a window shows what the whole run shows there", "[wave]") {
    const test::Seen whole = record(0, kCycles);
    for (const auto& [first, end] :
         {std::pair(0, 1), std::pair(7, 12), std::pair(20, 33), std::pair(31, 32)}) {
        const test::Seen part = record(first, end);
        REQUIRE(part.paths() == whole.paths());
        CHECK(part.monotonic);
        CHECK(part.ended == Ticks(end * 1000));
        for (const std::string& path : whole.paths()) {
            bool same = true;
            for (std::int64_t cycle = first; cycle < end; ++cycle)
                same = same && part.at(path, cycle) == whole.at(path, cycle);
            INFO(path << " from " << first << " to " << end);
            REQUIRE(same);
        }
    }
}

TEST_CASE("a filter leaves out signals and changes none", "[wave]") {
    const test::Seen whole = record(0, kCycles), part = record(0, kCycles, {"*.pe_1_?.sum", "m.clock"});
    CHECK(part.paths().size() == 1 + kCols);
    for (const std::string& path : part.paths()) CHECK(part.changes(path) == whole.changes(path));
}

}  // namespace systole::systolic
