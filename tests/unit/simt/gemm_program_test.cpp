// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/gemm_program.h"

#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/gemm_epilogue.h"
#include "models/devices/simt/kernels/time_cta.h"
#include "models/devices/simt/sm/sm.h"
#include "tests/unit/simt/instruction_counts.h"
#include "tests/unit/simt/sm_specs.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::group_mma_sm;
using systole::simt::test::sum_of;
using systole::simt::test::warp_mma_sm;

namespace {

const CtaTile kWarpTiles[] = {{256, 128, 32, 3, 4, 2}, {128, 256, 32, 3, 2, 4}, {128, 128, 32, 4, 2, 2},
                              {128, 64, 64, 3, 2, 2},  {64, 64, 64, 5, 2, 2},   {32, 64, 64, 6, 1, 2},
                              {16, 64, 64, 6, 1, 2}};
const CtaTile kGroupTiles[] = {{128, 256, 64, 4, 2, 1}, {256, 128, 64, 4, 2, 1}, {128, 128, 64, 6, 2, 1},
                               {64, 256, 64, 4, 1, 1},  {64, 64, 64, 8, 1, 1},   {64, 8, 64, 8, 1, 1}};

}  // namespace

TEST_CASE("A CTA multiplies all of its tile, and copies each operand once a step") {
    constexpr std::int64_t kSteps = 7;
    for (const CtaTile& tile : kWarpTiles) {
        INFO(tile.m << " x " << tile.n << " x " << tile.k);
        REQUIRE(divides(tile, {}, TensorIssue::Warp));
        const CtaProgram program = gemm_program(tile, {}, kSteps, warp_mma_sm());
        CHECK(sum_of(program, Op::Mma, &Instruction::amount) == tile.m * tile.n * tile.k * kSteps);
        // What is ahead of the last steps lies outside the matrix: those copies bring nothing.
        CHECK(sum_of(program, Op::AsyncCopy, &Instruction::bytes) ==
              (tile.m + tile.n) * tile.k * 2 * (kSteps + tile.stages - 1));
        CHECK(sum_of(program, Op::GlobalStore, &Instruction::bytes) == tile.m * tile.n * 2);
    }
    for (const CtaTile& tile : kGroupTiles) {
        INFO(tile.m << " x " << tile.n << " x " << tile.k);
        REQUIRE(divides(tile, {}, TensorIssue::WarpGroup));
        const CtaProgram program = gemm_program(tile, {}, kSteps, group_mma_sm());
        CHECK(sum_of(program, Op::GroupMma, &Instruction::amount) == tile.m * tile.n * tile.k * kSteps);
        CHECK(sum_of(program, Op::BulkCopy, &Instruction::bytes) == (tile.m + tile.n) * tile.k * 2 * kSteps);
        CHECK(sum_of(program, Op::BulkStore, &Instruction::bytes) == tile.m * tile.n * 2);
    }
}

TEST_CASE("Rows that are gathered cost instructions of each copy, or of the warp that copies") {
    constexpr std::int64_t kSteps = 7;
    const auto more = [](const CtaTile& tile, const SmSpec& sm) {
        const GemmFormats gathers{DType::Bf16, DType::Bf16, {}, true};
        const CtaProgram plain = gemm_program(tile, {}, kSteps, sm),
                         own = gemm_program(tile, gathers, kSteps, sm);
        CHECK(sum_of(own, Op::AsyncCopy) == sum_of(plain, Op::AsyncCopy));
        CHECK(sum_of(own, Op::Mma) == sum_of(plain, Op::Mma));
        return sum_of(own, Op::Integer) - sum_of(plain, Op::Integer);
    };
    // Four of a warp's eight copies are A's, three instructions more each, and eight a step; three steps
    // ahead.
    CHECK(more({128, 128, 32, 4, 2, 2}, warp_mma_sm()) == (kSteps + 3) * 4 * (4 * 3 + 8));
    CHECK(more({128, 256, 64, 4, 2, 1}, group_mma_sm()) == kSteps * 8);
}

TEST_CASE("A persistent CTA does tile after tile, and its stages and barriers go round") {
    const std::vector<std::int64_t> tiles{3, 9, 0, 1, 14};
    constexpr std::int64_t kSteps = 3 + 9 + 1 + 14;
    for (const CtaTile& tile : kGroupTiles)
        for (const bool join : {false, true}) {
            INFO(tile.m << " x " << tile.n << " x " << tile.k << (join ? ", joined" : ""));
            GemmFormats formats;
            if (join) formats.epilogue.join = Elementwise::Kind::Add;
            const CtaProgram program = persistent_program(tile, formats, tiles, group_mma_sm());
            CHECK(sum_of(program, Op::GroupMma, &Instruction::amount) == tile.m * tile.n * tile.k * kSteps);
            CHECK(sum_of(program, Op::BulkCopy, &Instruction::bytes) ==
                  (tile.m + tile.n) * tile.k * 2 * kSteps + (join ? 5 * tile.m * tile.n * 2 : 0));
            CHECK(sum_of(program, Op::BulkStore, &Instruction::bytes) == 5 * tile.m * tile.n * 2);
            // Nobody waits for ever, and data that are far away are asked for across the ends of tiles.
            constexpr std::int64_t kFar = 3000;
            Sm sm(group_mma_sm(), 512, [](Op op, std::int64_t, std::int64_t at) {
                return op == Op::BulkCopy ? at + kFar : at + 100;
            });
            sm.launch(program, 0);
            sm.run();
            const auto& requests = sm.trace(0).requests;
            REQUIRE(requests.size() == kSteps);
            CHECK(requests[3] < kFar);  // the second tile's first step, where there are four stages at least
        }
}

TEST_CASE("Half the bits are twice the K of a step's bytes") {
    const CtaTile tile{128, 128, 64, 4, 2, 2};
    const CtaProgram program = gemm_program(tile, {DType::Int8, DType::Bf16}, 3, warp_mma_sm());
    CHECK(sum_of(program, Op::Mma, &Instruction::amount) == tile.m * tile.n * tile.k * 3);
    CHECK(program.shared == Bytes(4 * (128 + 128) * 64));
    const auto timing = time_cta(tile, {DType::Int8, DType::Bf16}, warp_mma_sm());
    REQUIRE(timing);
    CHECK(timing->busy == Approx(128.0 * 128 * 64 / (4 * 512)));
}

TEST_CASE("Tiles that warps cannot share are told apart") {
    CHECK_FALSE(divides({128, 128, 32, 1, 2, 2}, {}, TensorIssue::Warp));  // one stage
    CHECK_FALSE(divides({128, 128, 16, 4, 2, 2}, {}, TensorIssue::Warp));  // nothing to load meanwhile
    CHECK_FALSE(divides({72, 128, 32, 4, 2, 2}, {}, TensorIssue::Warp));   // 36 rows of a warp
    CHECK_FALSE(divides({128, 128, 32, 4, 0, 2}, {}, TensorIssue::Warp));
    CHECK_FALSE(divides({32, 128, 64, 4, 1, 1}, {}, TensorIssue::WarpGroup));  // wgmma has 64 rows
    CHECK_FALSE(divides({64, 512, 64, 2, 1, 1}, {}, TensorIssue::WarpGroup));  // and 256 columns at most
}

TEST_CASE("Occupancy is what registers, shared memory and warps leave") {
    const SmSpec sm = warp_mma_sm();
    CtaProgram program;
    program.roles = {{8, {}}};
    program.registers_of_thread = 64;
    program.shared = Bytes(10 * 1024);
    CHECK(occupancy(program, sm) == 4);  // 65,536 / (8 warps x 32 x 64)
    program.registers_of_thread = 32;
    CHECK(occupancy(program, sm) == 8);  // 64 warps
    program.shared = Bytes(40 * 1024);
    CHECK(occupancy(program, sm) == 4);  // 164 / (40 + 1)
    program.registers_of_thread = 33;    // a warp takes multiples of 256: 1,280 instead of 1,056
    program.shared = Bytes(1024);
    CHECK(occupancy(program, sm) == 6);
    program.shared = Bytes(163 * 1024 + 1);
    CHECK(occupancy(program, sm) == 0);
    program.shared = Bytes(0);
    program.registers_of_thread = 256;
    CHECK(occupancy(program, sm) == 0);
    program.registers_of_thread = 16;
    program.roles = {{1, {}}};
    CHECK(occupancy(program, sm) == 16);  // a warp alone takes the place of four
}

TEST_CASE("The main loop's steps are its products and what warps cannot hide") {
    for (const CtaTile& tile : kWarpTiles) {
        INFO(tile.m << " x " << tile.n << " x " << tile.k);
        const auto timing = time_cta(tile, {}, warp_mma_sm());
        REQUIRE(timing);
        const double products = static_cast<double>(tile.m * tile.n * tile.k) / (4 * 256);
        CHECK(timing->busy == Approx(products));
        CHECK(timing->interval_alone >= products);
        CHECK(timing->interval_full >= timing->interval_alone);
        CHECK(timing->interval_full >= products * timing->resident);
        CHECK(timing->interval_full <= timing->interval_alone * timing->resident + 1e-9);
        // The slots of an interval are all accounted for.
        CHECK(timing->busy + timing->lost_alone.total() == Approx(timing->interval_alone));
        CHECK(timing->busy * timing->resident + timing->lost_full.total() == Approx(timing->interval_full));
        CHECK(timing->ahead == tile.stages - 1);
        // Warps meet before the last 16 of the step's K, for the next step's first fragments.
        const double last_part = 16.0 / static_cast<double>(tile.k);
        REQUIRE(timing->meet);
        CHECK(*timing->meet / timing->interval_alone == Approx(1 - last_part).margin(0.12));
    }
    // Large tiles keep tensor cores at work; a 64 x 64 one alone waits for barriers and fragments: about 110
    // cycles a step of 64 were found in measured kernels (docs/validation.md).
    CHECK(time_cta({128, 256, 32, 3, 2, 4}, {}, warp_mma_sm())->interval_alone < 1024 * 1.03);
    const double floor = time_cta({16, 64, 64, 6, 1, 2}, {}, warp_mma_sm())->interval_alone - 64;
    CHECK(floor > 70);
    CHECK(floor < 180);
}

TEST_CASE("Groups of warps keep their tensor cores at work as long as shared memory feeds them") {
    for (const CtaTile& tile : kGroupTiles) {
        INFO(tile.m << " x " << tile.n << " x " << tile.k);
        const auto timing = time_cta(tile, {}, group_mma_sm());
        REQUIRE(timing);
        const double products = static_cast<double>(tile.m * tile.n * tile.k) / (4 * 512);
        // Four instructions a step, each with 64 rows and its columns out of shared memory.
        const double rows = static_cast<double>(tile.m / tile.groups_m), cols = static_cast<double>(tile.n);
        const double feeds = 4 * (rows / 64) * tile.groups_m * (64 + cols) * 32 / 128;
        CHECK(timing->interval_alone == Approx(std::max(products, feeds)).epsilon(0.01));
        CHECK(timing->ahead == tile.stages);
        CHECK_FALSE(timing->meet);
    }
}

TEST_CASE("Warps of mma.sync bring out eight rows at a time, and meet around each") {
    for (const CtaTile& tile : kWarpTiles) {
        INFO(tile.m << " x " << tile.n << " x " << tile.k);
        const CtaProgram program = gemm_program(tile, {}, 1, warp_mma_sm());
        const std::int64_t warps = tile.groups_m * tile.groups_n, sums = tile.m * tile.n;
        // fp32 into shared memory; out of it likewise, besides the fragments of the one step and the first of
        // the next.
        CHECK(sum_of(program, Op::SharedStore, &Instruction::bytes) == sums * 4);
        const std::int64_t fragments = tile.k / 16 + 1, pieces = tile.m / tile.groups_m / 8;
        std::int64_t meetings = 0;
        for (const Section& section : program.roles[0].program)
            for (const Instruction& instruction : section.body)
                meetings += instruction.op == Op::Await ? section.trips : 0;
        CHECK(meetings == 2 * pieces + 2);  // and for the first step's data, and the next one's
        CHECK(sum_of(program, Op::SharedLoad, &Instruction::bytes) >= sums * 4 + warps * fragments * 512);
        CHECK(sum_of(program, Op::BulkStore, &Instruction::bytes) == 0);
    }
}

TEST_CASE("Threads store whole sectors of what lies in the matrix, and no other results") {
    const CtaTile tile{128, 64, 64, 3, 2, 2};
    const CtaProgram whole = gemm_program(tile, {}, 3, warp_mma_sm());
    const std::int64_t stores = sum_of(whole, Op::GlobalStore);
    CHECK(stores == 128 * 64 * 2 / 512);
    const auto stored = [&](double share) {
        const CtaProgram part = storing(whole, share);
        CHECK(sum_of(part, Op::GlobalStore) == stores);
        CHECK(sum_of(part, Op::SharedStore, &Instruction::bytes) == 128 * 64 * 4);
        return sum_of(part, Op::GlobalStore, &Instruction::bytes);
    };
    CHECK(stored(1) == 128 * 64 * 2);
    CHECK(stored(0.5) == 128 * 64);
    CHECK(stored(0.1) == stores * 64);  // 51 bytes of 512
    CHECK(stored(0) == stores * 32);
}

TEST_CASE("An epilogue takes less where fewer results lie in the matrix") {
    const CtaTile tile{128, 128, 64, 3, 2, 2};
    const CtaTiming whole = *time_cta(tile, {}, warp_mma_sm());
    // Eight pieces of 4 KiB at 16 bytes a cycle; what is left meets, and goes through shared memory.
    CHECK(whole.epilogue.value() > 8 * 256);
    CHECK(whole.unstored < whole.epilogue);
    CHECK(storing(whole, 1).epilogue == whole.epilogue);
    CHECK(storing(whole, 0).epilogue == whole.unstored);
    CHECK(storing(whole, 0.5).epilogue == whole.epilogue - Cycles(8 * 128));
    for (const double share : {0.0, 0.25, 0.5, 1.0}) {
        const CtaTiming part = storing(whole, share);
        CHECK(part.stores <= part.epilogue);
        CHECK(part.interval_alone == whole.interval_alone);
        // Between the ends, warps take what is expected of them, or nearly.
        const CtaProgram program = storing(gemm_program(tile, {}, 4, warp_mma_sm()), share);
        Sm sm(warp_mma_sm(), 256, [](Op, std::int64_t, std::int64_t at) { return at; });
        sm.launch(program, 0);
        sm.run();
        const auto took = static_cast<double>(sm.trace(0).end - sm.trace(0).last_mma_end);
        CHECK(static_cast<double>(part.epilogue.value()) == Approx(took).epsilon(0.03));
    }
    // Bulk stores hold nobody up.
    const CtaTiming bulk = *time_cta({128, 128, 64, 6, 2, 1}, {}, group_mma_sm());
    CHECK(storing(bulk, 0).epilogue == bulk.epilogue);
}

TEST_CASE("Results of a thread are scaled one behind the other without waiting for each other") {
    CtaProgram program;
    program.roles = {{1, bulk_epilogue({16, 64, DType::Bf16}, 0)}};
    Sm sm(group_mma_sm(), 512, [](Op, std::int64_t, std::int64_t at) { return at; });
    sm.launch(program, 0);
    sm.run();
    // 32 products with alpha and 16 conversions of two, one a cycle; the last conversion, of cycle 47, is
    // there at 51, when the last of four stores issues, and the copy behind it.
    CHECK(sm.trace(0).end == 53);
}

TEST_CASE("An epilogue reads its bias and what it joins once, and computes its functions on every sum") {
    const Epilogue gelu_add{true, Function::Gelu, Elementwise::Kind::Add, Function::Relu};
    for (const CtaTile& tile : kWarpTiles) {
        INFO(tile.m << " x " << tile.n);
        const std::int64_t warps = tile.groups_m * tile.groups_n, sums = tile.m * tile.n;
        const CtaProgram plain = gemm_program(tile, {}, 3, warp_mma_sm());
        const CtaProgram program = gemm_program(tile, {DType::Bf16, DType::Bf16, gelu_add}, 3, warp_mma_sm());
        CHECK(sum_of(program, Op::GlobalLoad, &Instruction::bytes) ==
              sums * 2 + warps * tile.n / tile.groups_n * 4);
        CHECK(sum_of(program, Op::Special) == sums / 32);  // a tanh each
        // Five for gelu, one to add, one for relu.
        CHECK(sum_of(program, Op::Fp32) - sum_of(plain, Op::Fp32) == 7 * sums / 32);
        CHECK(sum_of(program, Op::GlobalStore, &Instruction::bytes) == sums * 2);
    }
    for (const CtaTile& tile : kGroupTiles) {
        INFO(tile.m << " x " << tile.n);
        const std::int64_t sums = tile.m * tile.n;
        const CtaProgram program =
            gemm_program(tile, {DType::Bf16, DType::Bf16, gelu_add}, 3, group_mma_sm());
        CHECK(sum_of(program, Op::BulkCopy, &Instruction::bytes) ==
              (tile.m + tile.n) * tile.k * 2 * 3 + sums * 2);
        CHECK(sum_of(program, Op::GlobalLoad) == 4 * tile.groups_m * tile.groups_n);  // a warp its bias
        CHECK(sum_of(program, Op::Special) == sums / 32);
    }
}

TEST_CASE("Special functions keep their units busy for eight cycles a warp") {
    const std::int64_t sums = 128 * 256;
    const CtaTile tile{128, 256, 64, 4, 2, 1};
    const auto epilogue = [&](Function function) {
        const auto timing =
            time_cta(tile, {DType::Bf16, DType::Bf16, {false, function, {}, {}}}, group_mma_sm());
        REQUIRE(timing);
        return timing->epilogue.value();
    };
    // A tanh of every sum: 16 units of an SM. The last one's cycles need not be over.
    CHECK(epilogue(Function::Tanh) > sums / 16 - 8);
    CHECK(epilogue(Function::Tanh) < sums / 16 + epilogue(Function::None));
    // 128 units for fp32: a relu of every sum is one instruction more. Shared memory, which four of these
    // warps use at a time, may hide some.
    CHECK(epilogue(Function::Relu) > epilogue(Function::None));
    CHECK(epilogue(Function::Relu) <= epilogue(Function::None) + sums / 128 + 16);
}

TEST_CASE("How a run of a CTA is timed does not know how long the run was") {
    // Twice the data there at once make no difference to what was found: the middle of the run is periodic.
    for (const CtaTile& tile : {kWarpTiles[2], kWarpTiles[4]}) {
        const auto timing = time_cta(tile, {}, warp_mma_sm());
        const CtaProgram program = gemm_program(tile, {}, 200, warp_mma_sm());
        Sm sm(warp_mma_sm(), 256, [](Op, std::int64_t, std::int64_t at) { return at; });
        for (int i = 0; i < timing->resident; ++i) sm.launch(program, 0);
        sm.run();
        std::int64_t end = 0;
        for (int i = 0; i < timing->resident; ++i)
            end = std::max(end, sm.trace(static_cast<std::size_t>(i)).last_mma_end);
        const auto steps = [&](int n) { return timing->interval_full * n; };
        CHECK(static_cast<double>(end) == Approx(steps(200)).epsilon(0.02));
    }
}
