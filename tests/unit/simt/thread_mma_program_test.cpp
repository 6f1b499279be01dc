// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma: what a CTA's warps execute, and how it goes on an SM.
#include "models/devices/simt/kernels/thread_mma_program.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/choose.h"
#include "models/devices/simt/kernels/time_cta.h"
#include "models/devices/simt/sm/sm.h"
#include "tests/unit/simt/instruction_counts.h"
#include "tests/unit/simt/sm_programs.h"
#include "tests/unit/simt/sm_specs.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::cycles_of;
using systole::simt::test::program_of;
using systole::simt::test::sum_of;
using systole::simt::test::thread_mma_sm;

namespace {

CtaTile tile_of(std::int64_t m, std::int64_t n, int stages, bool pair) {
    CtaTile tile{m, n, 64, stages, 1, 1, pair ? 2 : 1, 1};
    tile.persistent = true;
    tile.pair = pair;
    tile.multicast = true;
    return tile;
}

const CtaTile kTiles[] = {tile_of(128, 256, 6, true), tile_of(256, 224, 4, true), tile_of(128, 256, 4, false),
                          tile_of(256, 128, 5, true), tile_of(64, 64, 16, true),  tile_of(64, 8, 16, false),
                          tile_of(192, 8, 8, false),  tile_of(512, 24, 3, false), tile_of(128, 64, 8, false)};

Sm::Memory at_once() {
    return [](Op, std::int64_t, std::int64_t at) { return at; };
}

/// When the last product of tiles of so many steps each, one behind the other, has ended, and their CTA.
struct Ends {
    std::int64_t products, cta;
};
Ends ends_of(const CtaTile& tile, const std::vector<std::int64_t>& steps, const SmSpec& spec) {
    const CtaProgram program = thread_mma_program(tile, {}, steps);
    Sm sm(spec, 1024, at_once());
    sm.launch(program, 0);
    sm.run();
    return {sm.trace(0).last_mma_end, sm.trace(0).end};
}

}  // namespace

TEST_CASE("All of a tile is multiplied by one warp, copied by another, and brought out by four") {
    constexpr std::int64_t kSteps = 7;
    for (const CtaTile& tile : kTiles) {
        INFO(tile.m << " x " << tile.n << (tile.pair ? ", pair" : ""));
        REQUIRE(divides(tile, {}, TensorIssue::Thread));
        const CtaProgram program = gemm_program(tile, {}, kSteps, thread_mma_sm());
        CHECK(program.warps() == 8);  // 256 threads
        // 64 rows of a CTA by itself take the lanes of 128.
        const std::int64_t lanes = tile.pair ? tile.m : (tile.m + 127) / 128 * 128;
        CHECK(sum_of(program, Op::TensorMma, &Instruction::amount) == lanes * tile.n * tile.k * kSteps);
        // Of a pair each copies half of B.
        const std::int64_t columns = tile.pair ? tile.n / 2 : tile.n;
        CHECK(sum_of(program, Op::BulkCopy, &Instruction::bytes) == (tile.m + columns) * tile.k * 2 * kSteps);
        CHECK(sum_of(program, Op::TensorLoad, &Instruction::bytes) == tile.m * tile.n * 4);
        CHECK(sum_of(program, Op::BulkStore, &Instruction::bytes) == tile.m * tile.n * 2);
        CHECK(program.shared <= Bytes(227 * 1024));
        CHECK(program.tensor <= Bytes(256 * 1024));
        CHECK(program.tensor.value() >= accumulators_of(tile) * tile.m * tile.n * 4);
        CHECK(occupancy(program, thread_mma_sm()) == 1);
    }
}

TEST_CASE("Tiles that no instruction has, or whose sums tensor memory does not hold, do not divide") {
    CHECK_FALSE(divides(tile_of(32, 64, 8, false), {}, TensorIssue::Thread));    // 64 rows at least
    CHECK_FALSE(divides(tile_of(128, 12, 8, false), {}, TensorIssue::Thread));   // columns by eight
    CHECK_FALSE(divides(tile_of(128, 24, 8, true), {}, TensorIssue::Thread));    // of pairs by sixteen
    CHECK_FALSE(divides(tile_of(256, 264, 3, false), {}, TensorIssue::Thread));  // 528 columns
    CtaTile alone = tile_of(128, 128, 6, true);
    alone.cluster_m = 1;
    CHECK_FALSE(divides(alone, {}, TensorIssue::Thread));
    CHECK(accumulators_of(tile_of(128, 256, 6, true)) == 2);
    CHECK(accumulators_of(tile_of(256, 224, 4, true)) == 1);
    CHECK(tensor_columns(tile_of(64, 64, 16, true)) == 32);  // 64 rows of a pair lie in all lanes
    CHECK(tensor_columns(tile_of(64, 64, 16, false)) == 64);
}

TEST_CASE("Stages with scales are as many as names of cuBLAS's kernels tell") {
    struct Named {
        std::int64_t n;
        DType dtype;
        BlockScales blocks;
        std::int64_t k;
        int stages;
    };
    // Of pairs of 128 rows: nvjet_sm100_tst_128x256_64x6_…_2cta, qqtst_128x256_128x6 (also with Avec32UE8M0),
    // qqsss_128x128_128x8_…_Avec32UE8M0, oohsh_128x256_256x5 and ootst_128x128_256x7 (Avec16UE4M3).
    for (const Named& named :
         {Named{256, DType::Bf16, {}, 64, 6}, Named{256, DType::Fp8, {}, 128, 6},
          Named{256, DType::Fp8, {32, 8}, 128, 6}, Named{128, DType::Fp8, {32, 8}, 128, 8},
          Named{256, DType::Fp4, {16, 8}, 256, 5}, Named{128, DType::Fp4, {16, 8}, 256, 7}}) {
        INFO(named.n << " columns, steps of " << named.k);
        bool found = false;
        for (const CtaTile& listed : catalogue(TensorIssue::Thread)) {
            if (listed.m != 128 || listed.n != named.n || !listed.pair) continue;
            const CtaTile tile = for_operands(listed, named.dtype, named.blocks, TensorIssue::Thread);
            CHECK(tile.k == named.k);
            CHECK(tile.stages == named.stages);
            found = true;
        }
        CHECK(found);
    }
}

TEST_CASE(
    "Scales are copied with their operands, go to tensor memory ahead of products, and take their turn") {
    constexpr std::int64_t kSteps = 7;
    SmSpec sm = thread_mma_sm();
    sm.tensor.macs[static_cast<std::size_t>(DType::Fp4)] = 4096;
    const CtaTile plain = for_operands(tile_of(128, 256, 6, true), DType::Fp4, {}, TensorIssue::Thread);
    const CtaTile scaled = for_operands(tile_of(128, 256, 6, true), DType::Fp4, {16, 8}, TensorIssue::Thread);
    const GemmFormats formats{.in = DType::Fp4, .blocks = {16, 8}};
    REQUIRE(divides(scaled, formats, TensorIssue::Thread));
    const CtaProgram program = gemm_program(scaled, formats, kSteps, sm);
    // 128 rows of A and half of 256 columns of B, 256 numbers of half a byte each, with 16 scales.
    CHECK(sum_of(program, Op::BulkCopy, &Instruction::bytes) == (128 + 128) * (128 + 16) * kSteps);
    // Of B all columns' scales: of the other half, the pair's other CTA has copied them.
    CHECK(sum_of(program, Op::TensorCopy, &Instruction::bytes) == (128 + 256) * 16 * kSteps);
    CHECK(sum_of(program, Op::TensorMma, &Instruction::amount) == 128 * 256 * 256 * kSteps);
    CHECK(sum_of(gemm_program(plain, {.in = DType::Fp4}, kSteps, sm), Op::TensorCopy, &Instruction::bytes) ==
          0);
    CHECK(program.shared == Bytes(5 * ((128 + 128) * 128 + (128 + 256) * 16) + 8 * 1024));
    // A step: 256 x 256 x 128 MACs at 16,384 a cycle, and 6 KiB of scales at 128 B a cycle.
    const double products = 512, copies = 48;
    CHECK(time_cta(plain, {.in = DType::Fp4}, sm)->interval_alone == Approx(products).epsilon(0.01));
    CHECK(time_cta(scaled, formats, sm)->interval_alone == Approx(products + copies).epsilon(0.01));
    // Scales of 64 columns lie in tensor memory as those of 128 do.
    const CtaTile narrow = for_operands(tile_of(128, 64, 6, false), DType::Fp4, {16, 8}, TensorIssue::Thread);
    CHECK(sum_of(gemm_program(narrow, formats, kSteps, sm), Op::TensorCopy, &Instruction::bytes) ==
          (128 + 128) * narrow.k / 16 * kSteps);
    // Instructions with scales have 128 rows, and their columns lie beside those of the sums.
    CHECK_FALSE(divides(tile_of(64, 256, 4, true), formats, TensorIssue::Thread));
    const auto wide = [&](BlockScales blocks) {
        return for_operands(tile_of(256, 240, 3, true), DType::Fp4, blocks, TensorIssue::Thread);
    };
    CHECK(divides(wide({}), {.in = DType::Fp4}, TensorIssue::Thread));
    CHECK_FALSE(divides(wide({16, 8}), formats, TensorIssue::Thread));
}

TEST_CASE("An SM with less tensor memory holds fewer CTAs, or none") {
    const CtaProgram program = thread_mma_program(tile_of(64, 64, 2, false), {}, {4});
    REQUIRE(program.tensor == Bytes(128 * 512));  // two tiles of 64 columns
    SmSpec sm = thread_mma_sm();
    CHECK(occupancy(program, sm) == 2);  // by registers
    sm.tensor.memory.capacity = Bytes(130 * 512);
    CHECK(occupancy(program, sm) == 1);
    sm.tensor.memory.capacity = Bytes(64 * 512);
    CHECK(occupancy(program, sm) == 0);
}

TEST_CASE("A product keeps all tensor cores as long as its MACs, or its operands' way out of shared memory") {
    for (const CtaTile& tile : kTiles) {
        INFO(tile.m << " x " << tile.n << (tile.pair ? ", pair" : ""));
        const auto timing = time_cta(tile, {}, thread_mma_sm());
        REQUIRE(timing);
        // Four slices of 16 of K, in instructions of 128 rows (and what is left) and all columns.
        double step = 0;
        for (std::int64_t row = 0; row < tile.m; row += 128) {
            const auto rows = static_cast<double>(std::min<std::int64_t>(128, tile.m - row));
            const auto columns = static_cast<double>(tile.n);
            // A comes out of shared memory for 128 lanes.
            step += 4 * std::max(std::ceil((tile.pair ? rows : 128) * columns * 16 / 4096),
                                 std::ceil((128 + (tile.pair ? columns / 2 : columns)) * 32 / 128));
        }
        // Instructions issue one a cycle at most, and the step's barrier.
        CHECK(timing->interval_alone >= step);
        CHECK(timing->interval_alone <= step * 1.01 + 1);
        CHECK(timing->ahead == tile.stages);
        CHECK(timing->accumulators == accumulators_of(tile));
    }
}

TEST_CASE("The next tile is multiplied while the last one's sums are brought out, where both have a place") {
    const SmSpec sm = thread_mma_sm();
    const CtaTile two = tile_of(128, 256, 6, true), one = tile_of(256, 224, 4, true);
    // 20 steps of 512 cycles are longer than an epilogue: 64 KiB through a port of 32 bytes, 2,048 cycles.
    const Ends first = ends_of(two, {20}, sm), second = ends_of(two, {20, 20}, sm);
    CHECK(second.products - first.products == 20 * 512);
    CHECK(second.cta - first.cta == 20 * 512);
    // With one place the second begins when the first's sums have been read.
    const Ends alone = ends_of(one, {20}, sm), behind = ends_of(one, {20, 20}, sm);
    const std::int64_t step = 4 * 2 * 112;  // 128 x 224 x 16 of a pair's SM, twice
    CHECK(behind.products - alone.products > 20 * step + 256 * 224 * 2 / 32 / 2);
    // One step each: epilogues follow each other, and products wait for the one before the last.
    const Ends short_tiles = ends_of(two, {1, 1, 1, 1, 1, 1}, sm);
    const std::int64_t epilogue = first.cta - first.products;
    CHECK(short_tiles.cta >= 6 * 2048);
    CHECK(short_tiles.cta <= first.cta - 19 * 512 + 5 * (epilogue + sm.barrier_latency.value()));
}

TEST_CASE("Results leave through one place a warp: a piece waits until the last has left it") {
    SmSpec sm = thread_mma_sm();
    const CtaTile tile = tile_of(128, 256, 4, false);
    const auto epilogue = [&] { return time_cta(tile, {}, sm)->epilogue.value(); };
    // Eight pieces of each warp, 8 KiB of all four: the last need not have left.
    const std::int64_t at_32 = epilogue();
    CHECK(at_32 >= 7 * 8192 / 32);
    CHECK(at_32 <= 7 * 8192 / 32 + 600);
    sm.store_bytes_per_cycle = Bytes(16);
    CHECK(epilogue() - at_32 == 7 * 8192 / 32);
    // A port of any width leaves what the warps do.
    sm.store_bytes_per_cycle = Bytes(4096);
    CHECK(epilogue() < at_32 * 2 / 3);
}

TEST_CASE("A step takes as long as the unit that copies needs for its boxes, zeros of them too") {
    SmSpec sm = thread_mma_sm();
    const CtaTile few = tile_of(64, 8, 16, false);
    const double products = time_cta(few, {}, sm)->interval_alone;
    CHECK(products == Approx(4 * (128 + 8) * 32 / 128));
    // 72 rows of 128 bytes, each two cycles; the first requests leave as far apart.
    sm.bulk_copy_bytes_per_cycle = Bytes(64);
    const CtaTiming held = *time_cta(few, {}, sm);
    CHECK(held.interval_alone == Approx(144));
    CHECK(held.request == Cycles(144));
    // Of a cluster each copies its part for all: products take longer.
    CtaTile four = few;
    four.cluster_m = 4;
    CHECK(time_cta(four, {}, sm)->interval_alone == Approx(products));
    // Where products take longer, nothing is lost.
    CHECK(time_cta(tile_of(128, 256, 6, true), {}, sm)->interval_alone == Approx(512));
}

TEST_CASE("Results outside the matrix are not stored") {
    const CtaProgram whole = thread_mma_program(tile_of(128, 256, 4, false), {}, {3});
    CHECK(sum_of(storing(whole, 0.25), Op::BulkStore, &Instruction::bytes) == 128 * 64 * 2);
}

TEST_CASE(
    "Sums are in their registers after tensor memory's latency, a sub-core's loads one behind the other") {
    const SmSpec sm = thread_mma_sm();
    const Instruction load{.op = Op::TensorLoad, .writes = 1, .bytes = 4096};
    const Instruction use{.op = Op::Integer, .reads = 1};
    CHECK(cycles_of(program_of(1, {load, use}), sm) == 64 - 1 + 30 + 1);
    // Four warps on four sub-cores do not meet; of five two do.
    CHECK(cycles_of(program_of(4, {load, use}), sm) == 64 - 1 + 30 + 1);
    CHECK(cycles_of(program_of(5, {load, use}), sm) == 2 * 64 - 1 + 30 + 1);
}

TEST_CASE("Whoever waits for a bulk store's reads waits for the port, not for its answer") {
    const SmSpec sm = thread_mma_sm();
    const Instruction store{.op = Op::BulkStore, .bytes = 2048};
    const auto waits = [&](std::int64_t left, std::int64_t answer) {
        const CtaProgram program =
            program_of(1, {store, store, {.op = Op::WaitReads, .amount = left}, {.op = Op::Integer}});
        return cycles_of(program, sm, answer);
    };
    // Out of shared memory in 16 cycles, through the port in 64 more; two follow each other there.
    CHECK(waits(0, 0) == 16 + 2 * 64 + 2);
    CHECK(waits(1, 0) == 16 + 64 + 2);
    CHECK(waits(0, 5000) == 16 + 2 * 64 + 2);
}

TEST_CASE("A commit arrives when all products before it are complete, and nobody waits to issue it") {
    const SmSpec sm = thread_mma_sm();
    CtaProgram program;
    program.barriers = {{1, false}};
    const Instruction product{.op = Op::TensorMma, .amount = 128 * 256 * 16, .bytes = (128 + 256) * 32};
    program.roles = {{1, {{{product, product, {.op = Op::CommitTensor}}}}}, {1, {{{{.op = Op::Await}}}}}};
    Sm run(sm, 1024, at_once());
    run.launch(program, 0);
    run.run();
    // Two products of 128 cycles, their latency, and the barrier's.
    CHECK(run.trace(0).last_mma_end == 256);
    CHECK(run.trace(0).end == 256 + 25 + 20 + 1);
    CHECK(run.busy(0, 256) == 4 * 256);
    // Lost are 4 x (302 - 256): what follows has no product.
    CHECK(run.busy(0, 302) == 4 * 256);
}
