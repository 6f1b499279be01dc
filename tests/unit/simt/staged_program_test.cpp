// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/staged_program.h"

#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/choose.h"
#include "models/devices/simt/kernels/time_cta.h"
#include "tests/unit/simt/instruction_counts.h"
#include "tests/unit/simt/sm_specs.h"

namespace systole::simt {
namespace {

using test::quad_pair_sm;
using test::sum_of;
using test::wave_mma_sm;

}  // namespace

TEST_CASE("A CTA of MFMA multiplies its tile, and brings each operand through registers once a step") {
    constexpr std::int64_t kSteps = 7;
    // Of 2023's, too, of which some are loaded by 8 bytes a thread.
    for (const CtaTile& tile : catalogue(TensorIssue::Wave, false, Library::PyTorch2023)) {
        INFO(tile.m << " x " << tile.n << " x " << tile.k << ", " << tile.stages);
        REQUIRE(divides(tile, {}, TensorIssue::Wave));
        const CtaProgram program = gemm_program(tile, {}, kSteps, wave_mma_sm());
        const std::int64_t of_step = (tile.m + tile.n) * tile.k * 2;
        CHECK(sum_of(program, Op::Mma, &Instruction::amount) == tile.m * tile.n * tile.k * kSteps);
        // One step is loaded ahead of the first, and nothing in the place of one behind the last.
        CHECK(sum_of(program, Op::StepLoad, &Instruction::bytes) == of_step * (kSteps + 1));
        CHECK(sum_of(program, Op::SharedStore, &Instruction::bytes) == of_step * (kSteps + 1));
        CHECK(sum_of(program, Op::GlobalStore, &Instruction::bytes) == tile.m * tile.n * 2);
        CHECK(sum_of(program, Op::AsyncCopy) == 0);
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
        CHECK(sum_of(program, Op::Await) == 4 * (1 + kSteps * (buffers == 1 ? 2 : 1)));
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

namespace {

/// What a CTA of any tile must do, whoever multiplies.
void check_program(const CtaTile& tile, const GemmFormats& formats, const SmSpec& sm) {
    constexpr std::int64_t kSteps = 7;
    INFO(tile.m << " x " << tile.n << " x " << tile.k << ", " << tile.slices);
    const TensorIssue issue = sm.issue_of(formats.in);
    REQUIRE(divides(tile, formats, issue));
    const CtaProgram program = gemm_program(tile, formats, kSteps, sm);
    const std::int64_t of_step = (tile.m + tile.n) * tile.k * bits_of(formats.in).value() / 8;
    const Op op = issue == TensorIssue::Lanes ? Op::Fma : Op::Mma;
    CHECK(sum_of(program, op, &Instruction::amount) == tile.m * tile.n * tile.k * kSteps);
    CHECK(sum_of(program, Op::StepLoad, &Instruction::bytes) == of_step * (kSteps + 1));
    CHECK(sum_of(program, Op::GlobalStore, &Instruction::bytes) ==
          tile.m * tile.n * bits_of(formats.out).value() / 8);
    CHECK(sum_of(program, Op::AsyncCopy) == 0);
    CHECK(program.shared == Bytes(tile.stages * of_step));
    CHECK(program.warps() == tile.groups_m * tile.groups_n * tile.slices);
    CHECK(program.registers_of_thread <= 255);
    CHECK(occupancy(program, sm) >= 1);
}

}  // namespace

TEST_CASE(
    "CTAs of mma.sync.m8n8k4 and of FP32 pipes multiply their tiles, and bring operands through registers") {
    for (const CtaTile& tile : catalogue(TensorIssue::QuadPair))
        check_program(tile, {.in = DType::Fp16, .out = DType::Fp16}, quad_pair_sm());
    for (const CtaTile& tile : catalogue(TensorIssue::Lanes))
        for (const DType out : {DType::Fp32, DType::Fp16})
            check_program(tile, {.in = DType::Fp32, .out = out}, quad_pair_sm());
}

TEST_CASE("HMMA and its reads are as many as quad-pairs take") {
    // 64 x 64 x 32 of a warp: 4 x 4 products of 16 x 16, four steps each, eight times along K. Each row and
    // column of four elements is in the registers of two quad-pairs: 16 B, a load for 32 of them.
    const CtaProgram program =
        gemm_program({128, 128, 32, 2, 2, 2}, {.in = DType::Fp16, .out = DType::Fp16}, 3, quad_pair_sm());
    CHECK(sum_of(program, Op::Mma) == 4 * 3 * 16 * 4 * 8);
    const Section& step = program.roles.at(0).program.at(1);
    std::int64_t reads = 0;
    for (const Instruction& instruction : step.body) reads += instruction.op == Op::SharedLoad;
    CHECK(reads == 4 * 8);
    // 128 sums, 2 x 16 of fragments, 8 loads of 16 B, 38 others.
    CHECK(program.registers_of_thread == 128 + 32 + 32 + 38);
}

TEST_CASE("A thread of an SGEMM has 8 x 8 sums, 16 of fragments twice, and 127 registers") {
    const GemmFormats formats{.in = DType::Fp32, .out = DType::Fp32};
    const CtaProgram program = gemm_program({128, 128, 8, 2, 2, 4}, formats, 3, quad_pair_sm());
    CHECK(program.registers_of_thread == 64 + 32 + 8 + 23);
    CHECK(sum_of(program, Op::Fma) == 8 * 3 * 64 * 8);
    CHECK(occupancy(program, quad_pair_sm()) == 2);
    // 128 x 128 x 8 MACs at 64 a cycle, of which barriers and reads cost little.
    const auto timing = time_cta({128, 128, 8, 2, 2, 4}, formats, quad_pair_sm());
    REQUIRE(timing);
    CHECK(timing->busy == Approx(2048).epsilon(0.01));
    CHECK(timing->interval_alone < 1.05 * 2048);
    CHECK(timing->interval_full / timing->resident >= 2048 * 0.999);
    CHECK(timing->interval_full / timing->resident < 1.02 * 2048);
}

TEST_CASE("Slices of K share a tile's products, and pass their sums once") {
    const GemmFormats formats{.in = DType::Fp32, .out = DType::Fp32};
    CtaTile tile{32, 32, 32, 2, 1, 1};
    tile.slices = 4;
    const CtaProgram program = gemm_program(tile, formats, 1, quad_pair_sm());
    // Behind the last step: three quarters of each warp's 32 sums, 16 B of a thread at a time.
    std::int64_t stored = 0, loaded = 0;
    const Section& adding = program.roles.at(0).program.at(2);
    for (const Instruction& instruction : adding.body) {
        if (instruction.op == Op::SharedStore) stored += instruction.bytes;
        if (instruction.op == Op::SharedLoad) loaded += instruction.bytes;
    }
    CHECK(stored == 32 * 32 * 4 * 3 / 4);
    CHECK(loaded == stored);
    tile.slices = 8;  // four rows of each warp: half a piece of the epilogue
    CHECK_FALSE(divides(tile, formats, TensorIssue::Lanes));
    tile.slices = 2;
    CHECK_FALSE(divides(tile, {}, TensorIssue::Warp));
}

}  // namespace systole::simt
