// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/wave_mma_program.h"

#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/choose.h"
#include "models/devices/simt/kernels/time_cta.h"
#include "tests/unit/simt/sm_specs.h"

namespace systole::simt {
namespace {

using test::wave_mma_sm;

/// Of all warps: `amount`s or `bytes` of instructions of a kind, or how many there are.
std::int64_t sum_of(const CtaProgram& program, Op op, std::int64_t Instruction::*what) {
    std::int64_t sum = 0;
    for (const Role& role : program.roles)
        for (const Section& section : role.program)
            for (const Instruction& instruction : section.body)
                if (instruction.op == op)
                    sum += role.warps * section.trips * (what == nullptr ? 1 : instruction.*what);
    return sum;
}

}  // namespace

TEST_CASE("A CTA of MFMA multiplies its tile, and brings each operand through registers once a step") {
    constexpr std::int64_t kSteps = 7;
    for (const CtaTile& tile : catalogue(TensorIssue::Wave)) {
        INFO(tile.m << " x " << tile.n << " x " << tile.k << ", " << tile.stages);
        REQUIRE(divides(tile, {}, TensorIssue::Wave));
        const CtaProgram program = gemm_program(tile, {}, kSteps, wave_mma_sm());
        const std::int64_t of_step = (tile.m + tile.n) * tile.k * 2;
        CHECK(sum_of(program, Op::Mma, &Instruction::amount) == tile.m * tile.n * tile.k * kSteps);
        // One step is loaded ahead of the first, and nothing in the place of one behind the last.
        CHECK(sum_of(program, Op::StepLoad, &Instruction::bytes) == of_step * (kSteps + 1));
        CHECK(sum_of(program, Op::SharedStore, &Instruction::bytes) == of_step * (kSteps + 1));
        CHECK(sum_of(program, Op::GlobalStore, &Instruction::bytes) == tile.m * tile.n * 2);
        CHECK(sum_of(program, Op::AsyncCopy, nullptr) == 0);
        CHECK(program.shared == Bytes(tile.stages * of_step));
        // Each warp reads its rows' and columns' fragments of every part of 32 bytes of K.
        const std::int64_t read = (tile.m * tile.groups_n + tile.n * tile.groups_m) * tile.k * 2 * kSteps;
        CHECK(sum_of(program, Op::SharedLoad, &Instruction::bytes) >= read);
        CHECK(occupancy(program, wave_mma_sm()) >= 1);
    }
}

TEST_CASE("With one buffer of shared memory warps meet twice a step, with two once") {
    constexpr std::int64_t kSteps = 5;
    for (const int buffers : {1, 2}) {
        const CtaProgram program = gemm_program({128, 128, 32, buffers, 2, 2}, {}, kSteps, wave_mma_sm());
        CHECK(sum_of(program, Op::Await, nullptr) == 4 * (1 + kSteps * (buffers == 1 ? 2 : 1)));
    }
}

TEST_CASE("MFMA that does not divide is refused") {
    CHECK_FALSE(divides({128, 120, 32, 2, 2, 2}, {}, TensorIssue::Wave));                 // 60 columns
    CHECK_FALSE(divides({128, 128, 16, 2, 2, 2}, {}, TensorIssue::Wave));                 // one part of K
    CHECK_FALSE(divides({32, 32, 32, 2, 2, 2}, {.in = DType::Int8}, TensorIssue::Wave));  // half a load
}

TEST_CASE("A step of MFMA takes what the matrix cores take, and asks for the next one's data early") {
    const SmSpec sm = wave_mma_sm();
    // 256 x 128 x 32 MACs at 512 a cycle: 2048 cycles.
    const auto timing = time_cta({256, 128, 32, 2, 2, 2}, {}, sm);
    REQUIRE(timing);
    CHECK(timing->ahead == 1);
    CHECK(timing->busy == Approx(2048).epsilon(0.01));
    CHECK(timing->interval_alone >= 2048);
    CHECK(timing->interval_alone < 1.1 * 2048);
    // 24 loads of four warps behind the first 6 of 32 products; stored behind half of the second 16.
    REQUIRE(timing->loaded);
    REQUIRE(timing->meet);
    CHECK(*timing->loaded / timing->interval_alone == Approx(6.0 / 32));
    CHECK(*timing->meet / timing->interval_alone == Approx(24.0 / 32));
    // Sums, fragments and loads: 128, 48 and 24 registers, and 30; two such CTAs fit registers, not the LDS.
    const CtaProgram program = gemm_program({256, 128, 32, 2, 2, 2}, {}, 2, sm);
    CHECK(program.registers_of_thread == 128 + 48 + 24 + 30);
    CHECK(timing->resident == 1);
    CHECK(time_cta({256, 128, 32, 1, 2, 2}, {}, sm)->resident == 2);
}

}  // namespace systole::simt
