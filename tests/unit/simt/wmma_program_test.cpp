// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/wmma_program.h"

#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/time_cta.h"
#include "models/devices/simt/sm/sm.h"
#include "tests/unit/simt/instruction_counts.h"
#include "tests/unit/simt/sm_specs.h"

namespace systole::simt {
namespace {

using test::sum_of;
using test::warp_mma_sm;

constexpr CtaTile wmma(CtaTile tile) {
    tile.wmma = true;
    return tile;
}
constexpr CtaTile kOneStage = wmma({16, 16, 128, 1, 1, 1}), kTwoStages = wmma({16, 16, 128, 2, 1, 1}),
                  kFourWarps = wmma({32, 32, 128, 2, 2, 2}), kShort = wmma({32, 32, 64, 1, 2, 2});

/// Cycles of a step of a CTA whose data come so late that nothing else takes longer.
std::int64_t step_with_late_data(const CtaTile& tile, const SmSpec& sm, std::int64_t latency) {
    const CtaProgram program = gemm_program(tile, {}, 12, sm);
    Sm alone(sm, sm.macs(DType::Bf16),
             [&](Op op, std::int64_t, std::int64_t at) { return op == Op::StepLoad ? at + latency : at; });
    alone.launch(program, 0);
    alone.run();
    const auto& steps = alone.trace(0).steps;
    return steps.at(8) - steps.at(7);
}

}  // namespace

TEST_CASE("A CTA of wmma multiplies its tile, and brings each operand through registers once a step") {
    for (const CtaTile& tile : {kOneStage, kTwoStages, kFourWarps, kShort})
        for (const std::int64_t steps : {1, 2, 7}) {
            INFO(tile.m << " x " << tile.n << " x " << tile.k << ", " << tile.stages << ", " << steps);
            REQUIRE(is_wmma(tile, TensorIssue::Warp));
            REQUIRE(divides(tile, {}, TensorIssue::Warp));
            const CtaProgram program = gemm_program(tile, {}, steps, warp_mma_sm());
            const std::int64_t of_step = (tile.m + tile.n) * tile.k * 2;
            CHECK(sum_of(program, Op::Mma, &Instruction::amount) == tile.m * tile.n * tile.k * steps);
            // Nothing is loaded behind the last step.
            CHECK(sum_of(program, Op::StepLoad, &Instruction::bytes) == of_step * steps);
            CHECK(sum_of(program, Op::SharedStore, &Instruction::bytes) ==
                  of_step * steps + tile.m * tile.n * 4);
            // A store has 16 bytes of each thread, of which eight rows of 16 results fill half.
            CHECK(sum_of(program, Op::GlobalStore, &Instruction::bytes) == 2 * tile.m * tile.n * 2);
            CHECK(sum_of(program, Op::AsyncCopy) == 0);
            // Each warp reads its rows' and columns' fragments of every part of 32 bytes of K.
            const std::int64_t read = (tile.m * tile.groups_n + tile.n * tile.groups_m) * tile.k * 2 * steps;
            CHECK(sum_of(program, Op::SharedLoad, &Instruction::bytes) == read + tile.m * tile.n * 4);
            CHECK(program.warps() == tile.groups_m * tile.groups_n);
        }
}

TEST_CASE("With one stage warps meet twice a step, before its fragments and behind them; with two once") {
    constexpr std::int64_t kSteps = 5, kEpilogue = 4;  // pieces of eight rows, around each of which they meet
    for (const int stages : {1, 2}) {
        const CtaProgram program =
            gemm_program(stages == 1 ? kOneStage : kTwoStages, {}, kSteps, warp_mma_sm());
        CHECK(sum_of(program, Op::Await) == kEpilogue + (stages == 1 ? 2 * (kSteps - 1) + 1 : kSteps));
    }
}

TEST_CASE("A CTA of 16 x 16 keeps padded rows in shared memory, and as many registers as profiles tell") {
    // Two operands' 16 rows of 256 + 16 bytes.
    const CtaProgram one = gemm_program(kOneStage, {}, 3, warp_mma_sm());
    const CtaProgram two = gemm_program(kTwoStages, {}, 3, warp_mma_sm());
    CHECK(one.shared == Bytes(2 * 16 * (256 + 16)));
    CHECK(two.shared == Bytes(2 * 2 * 16 * (256 + 16)));
    // 8 sums, 64 of loads, 38 others, and 8 of fragments of each part under way: 96 and 128 are seen of the
    // one, 124 of the other.
    CHECK(one.registers_of_thread == 8 + 8 + 64 + 38);
    CHECK(two.registers_of_thread == 8 + 16 + 64 + 38);
    // An L4, whose profile has 20.8 % of 48 warps: 100 KiB, of which each CTA is charged 1 KiB more.
    SmSpec ada = warp_mma_sm();
    ada.warps = 48;
    ada.ctas = 24;
    ada.shared.capacity = Bytes(100 * 1024);
    ada.shared.most_of_cta = Bytes(99 * 1024);
    CHECK(occupancy(one, ada, true) == 10);
    CHECK(time_cta(kOneStage, {}, ada)->resident == 10);
    CHECK(time_cta(kTwoStages, {}, ada)->resident == 5);  // 10 % of 48 in a profile on 12.0
    // Registers of four warps each would leave fewer.
    CHECK(occupancy(one, ada) == 4);
}

TEST_CASE("Tiles of wmma that warps cannot share are refused") {
    CHECK_FALSE(divides(wmma({16, 24, 128, 2, 1, 1}), {}, TensorIssue::Warp));  // half a product
    CHECK_FALSE(divides(wmma({16, 16, 16, 1, 1, 1}), {}, TensorIssue::Warp));   // one part of K
    CHECK_FALSE(divides(wmma({16, 16, 128, 3, 1, 1}), {}, TensorIssue::Warp));  // cp.async's
    CHECK_FALSE(is_wmma({16, 16, 128, 2, 1, 1}, TensorIssue::Warp));
    CHECK_FALSE(is_wmma(kTwoStages, TensorIssue::QuadPair));
}

TEST_CASE("Of a step of one stage data hide behind nothing, of one of two behind all parts but the last") {
    const SmSpec sm = warp_mma_sm();
    for (const CtaTile& tile : {kOneStage, kTwoStages, kFourWarps}) {
        INFO(tile.m << ", " << tile.stages);
        const auto timing = time_cta(tile, {}, sm);
        REQUIRE(timing);
        CHECK(timing->ahead == 1);
        REQUIRE(timing->loaded);
        REQUIRE(timing->meet);
        CHECK(*timing->loaded <= *timing->meet);
        CHECK(*timing->meet <= timing->interval_alone);
        // What a step takes besides waiting, of any latency that nothing hides.
        const double besides = timing->interval_alone + *timing->loaded - *timing->meet;
        // What loops take behind a step's last load passes meanwhile.
        if (tile.stages == 1) CHECK(besides > timing->interval_alone - 100);
        // Seven parts of two products that wait for each other, 33 cycles each.
        if (tile.stages == 2) CHECK(besides < timing->interval_alone - 7 * 33 + 1);
        for (const std::int64_t latency : {5'000, 9'000})
            CHECK(static_cast<double>(step_with_late_data(tile, sm, latency)) ==
                  Approx(static_cast<double>(latency) + besides).margin(1));
    }
}

TEST_CASE("Sums of 16 x 16 wait for each other along K") {
    // Eight parts of two products, each of which waits for that of the part before: 8 cycles of a tensor core
    // and 25 more. What brings operands comes besides: 64 reads, 16 stores of four cycles.
    const auto timing = time_cta(kOneStage, {}, warp_mma_sm());
    REQUIRE(timing);
    CHECK(timing->busy == Approx(16 * 8 / 4.0).epsilon(0.01));
    // Of each part eight reads, the last of which is there 29 cycles later, and its products.
    CHECK(timing->interval_alone > 8 * (8 + 29) + 8 + 16 * 4);
    CHECK(timing->interval_alone < 3 * (8 * 33 + 64 + 16 * 4));
}

}  // namespace systole::simt
