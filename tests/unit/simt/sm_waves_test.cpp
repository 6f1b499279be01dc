// SPDX-License-Identifier: Apache-2.0
// Wavefronts of 64 threads on a CDNA chip's compute unit.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/unit/simt/sm_programs.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::after;
using systole::simt::test::cycles_of;
using systole::simt::test::program_of;
using systole::simt::test::wave_mma_sm;

TEST_CASE("A vector ALU of 16 lanes takes a wavefront's instructions of all kinds one behind the other") {
    const Instruction add{.op = Op::Fp32}, address{.op = Op::Integer}, sine{.op = Op::Special};
    // The last of each program issues when the one before has left the lanes, and ends a cycle later.
    CHECK(cycles_of(program_of(1, {add, add, add}), wave_mma_sm()) == 2 * 4 + 1);
    CHECK(cycles_of(program_of(1, {add, address, sine, add}), wave_mma_sm()) == 4 + 4 + 16 + 1);
    // Two wavefronts of a SIMD (the fifth is on the first's) share its lanes; four have one each.
    CHECK(cycles_of(program_of(4, {add, address}), wave_mma_sm()) == 4 + 1);
    CHECK(cycles_of(program_of(8, {add, address}), wave_mma_sm()) == 3 * 4 + 1);
    // With pipelines apart an instruction of each goes every cycle.
    SmSpec apart = wave_mma_sm();
    apart.one_pipe = false;
    apart.issue_interval = Cycles(1);
    CHECK(cycles_of(program_of(1, {add, address, sine}), apart) == 2 + 1);
}

TEST_CASE("A wavefront issues every fourth cycle, others of its SIMD between") {
    const Instruction store{.op = Op::SharedStore, .bytes = 4};
    SmSpec sm = wave_mma_sm();
    sm.lsu_interval = Cycles(1);
    CHECK(cycles_of(program_of(1, {store, store, store}), sm) == 2 * 4 + 1);
    CHECK(cycles_of(program_of(8, {store, store, store}), sm) == 2 * 4 + 2);
}

TEST_CASE("What is loaded for the next step waits in registers until it is stored") {
    // Committed as copies are; the store reads what the load wrote.
    const CtaProgram program = program_of(1, {{.op = Op::StepLoad, .writes = 1, .bytes = 1024},
                                              {.op = Op::CommitCopies},
                                              {.op = Op::WaitCopies},
                                              {.op = Op::SharedStore, .reads = 1, .bytes = 1024}});
    // 16 cycles of 64 bytes, and the memory's 500; the store issues then.
    CHECK(cycles_of(program, wave_mma_sm(), 500) == 16 + 500 + 1);
    Sm sm(wave_mma_sm(), 128, after(500));
    sm.launch(program, 0);
    sm.run();
    CHECK(sm.trace(0).first_request == 16);
    CHECK(sm.trace(0).first_data == 16 + 500);
    CHECK(sm.trace(0).requests == std::vector<std::int64_t>{4});
}

TEST_CASE("fma of products keeps the FP32 pipeline, which other instructions share", "[simt]") {
    const SmSpec sm = test::quad_pair_sm();
    const Instruction fma{.op = Op::Fma, .writes = 1, .amount = 32};
    const Instruction chain{.op = Op::Fma, .reads = 1, .writes = 1, .amount = 32};
    const auto take = [&](const std::vector<Instruction>& body) {
        const CtaProgram program = program_of(1, body);
        Sm one(sm, sm.macs(DType::Fp32), after(0));
        one.launch(program, 0);
        one.run();
        return std::pair(one.trace(0).last_mma_end, one.busy(0, one.trace(0).last_mma_end));
    };
    // 32 MACs at 16 a cycle; a dependent one waits for the latency.
    CHECK(take({{.op = Op::Fma, .writes = 1, .amount = 32}, {.op = Op::Fma, .writes = 2, .amount = 32}}) ==
          std::pair<std::int64_t, std::int64_t>(4, 4));
    CHECK(take({chain, chain, chain}) == std::pair<std::int64_t, std::int64_t>(4 + 4 + 2, 6));
    // A conversion between two of them takes its turn.
    CHECK(take({fma, {.op = Op::Fp32, .writes = 2}, {.op = Op::Fma, .writes = 4, .amount = 32}}) ==
          std::pair<std::int64_t, std::int64_t>(6, 4));
}
