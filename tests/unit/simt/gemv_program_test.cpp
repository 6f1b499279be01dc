// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/gemv_program.h"

#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/time_cta.h"
#include "tests/unit/simt/instruction_counts.h"
#include "tests/unit/simt/sm_specs.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::count_of;
using systole::simt::test::warp_mma_sm;

namespace {

/// Four columns, 4 loads of 32 x 16 bytes of each under way.
const CtaTile kFour{1, 4, 4 * 256, 4, 1, 4, 1, 1, Pipes::Fp32};
/// One column of fp32, one load.
const CtaTile kOne{1, 1, 128, 1, 1, 1, 1, 1, Pipes::Fp32};

}  // namespace

TEST_CASE("A warp loads its column and the row, converts both, and adds up one product of each element") {
    const CtaProgram program = gemv_program(kFour, {DType::Fp16, DType::Fp16}, 3);
    CHECK(program.warps() == 4);
    CHECK(count_of(program, Op::GlobalLoad) == 3 * 2 * 4);
    // A step: 4 loads of 8 elements, of each two conversions and a product. Then 4 sums become one, 32 lanes'
    // one in 5 shuffles, and that a result.
    CHECK(count_of(program, Op::Fp32) == 3 * 4 * 8 * 3 + 3 + 5 + 1);
    CHECK(count_of(program, Op::SharedLoad) == 5);
    CHECK(count_of(program, Op::GlobalStore) == 1);
    CHECK(count_of(program, Op::Mma) == 0);
    // 20 to begin with; of a step, an address of each load and the branch.
    CHECK(count_of(program, Op::Integer) == 20 + 3 * (4 + 1));
}

TEST_CASE(
    "Threads of a warp that share two results load as much of their columns and half as much of the row") {
    const CtaTile tile{1, 8, 4 * 128, 4, 1, 4, 1, 1, Pipes::Fp32};
    const CtaProgram program = gemv_program(tile, {DType::Bf16, DType::Bf16}, 1);
    CHECK(program.warps() == 4);
    std::int64_t loaded = 0, stored = 0;
    for (const Section& section : program.roles.at(0).program)
        for (const Instruction& instruction : section.body) {
            if (instruction.op == Op::GlobalLoad) loaded += instruction.bytes;
            if (instruction.op == Op::GlobalStore) stored += instruction.bytes;
        }
    CHECK(loaded == 4 * (512 + 256));  // 2 x 128 elements, and the 128 of the row
    CHECK(stored == 2 * 2);
    // 16 lanes' sums are one after four shuffles.
    CHECK(count_of(program, Op::SharedLoad) == 4);
    CHECK(count_of(program, Op::Fp32) == 4 * 8 + 3 + 4 + 1);
    CHECK(count_of(program, Op::GlobalStore) == 1);
}

TEST_CASE("bf16 becomes fp32 by integer instructions, and fp32 is taken as it is") {
    const CtaProgram halves = gemv_program(kFour, {DType::Bf16, DType::Bf16}, 1);
    CHECK(count_of(halves, Op::Fp32) == 4 * 8 + 3 + 5 + 1);
    CHECK(count_of(halves, Op::Integer) == 20 + 5 + 2 * 4 * 8);
    CHECK(count_of(gemv_program(kOne, {DType::Fp32, DType::Fp32}, 2), Op::Fp32) == 2 * 4 + 5 + 1);
}

TEST_CASE("What the epilogue of one row reads is loaded by its warps, one value each") {
    const Epilogue gelu{true, Function::Gelu, Elementwise::Kind::Add, Function::None};
    const CtaProgram plain = gemv_program(kFour, {DType::Bf16, DType::Bf16}, 1);
    const CtaProgram more = gemv_program(kFour, {DType::Bf16, DType::Bf16, gelu}, 1);
    CHECK(count_of(more, Op::GlobalLoad) == count_of(plain, Op::GlobalLoad) + 2);
    CHECK(count_of(more, Op::Special) == 1);
    // Both are added when they come (2), gelu takes 5, and the join counts itself (1).
    CHECK(count_of(more, Op::Fp32) == count_of(plain, Op::Fp32) + 2 + 5 + 1);
}

TEST_CASE("A warp with one load under way takes the cycles of its chain of instructions") {
    const auto timing = time_cta(kOne, {DType::Fp32, DType::Fp32}, warp_mma_sm());
    REQUIRE(timing);
    CHECK(timing->ahead == 1);
    // 20 dependent integer instructions and the address take 84; a load passes in 512 / 128 cycles.
    CHECK(timing->prologue == Cycles(84 + 4));
    CHECK(timing->spread == Cycles(4));
    // Four dependent products (the last begins at 12), the branch at 13, an address at 15 for a load at 19.
    CHECK(timing->interval_alone == 19 + 4);
    // Five times 29 for a shuffle and 4 to add, 4 to convert, a store; the chain begins with the last sum,
    // at 16.
    CHECK(timing->epilogue == Cycles(16 + 5 * (29 + 4) + 4 + 1 - 23));
    CHECK(timing->busy == 0);
    // 33 registers of 32 threads are 1,280 in units of 256; a CTA takes a warp's of each sub-core.
    CHECK(timing->resident == 65536 / (4 * 1280));
}

TEST_CASE("Registers bound how many warps have loads under way, and pipes what full SMs do") {
    const auto timing = time_cta(kFour, {}, warp_mma_sm());
    REQUIRE(timing);
    // 24 + 4 x (4 + 4 + 1) = 60 registers: 2,048 of a warp in units of 256, 8 CTAs of 4 warps.
    CHECK(timing->resident == 8);
    // Of each sub-core, 8 warps convert 64 elements in a step and count 5 times, two cycles each.
    CHECK(timing->interval_full >= 8 * 2 * (64 + 5));
    CHECK(timing->interval_full < 1.25 * 8 * 2 * (64 + 5));
    SmSpec small = warp_mma_sm();
    small.registers = 4 * 2048 - 1;
    CHECK_FALSE(time_cta(kFour, {}, small));
}
