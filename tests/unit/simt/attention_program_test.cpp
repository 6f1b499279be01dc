// SPDX-License-Identifier: Apache-2.0
// What warps of attention kernels execute, and how a CTA goes.
#include "models/devices/simt/kernels/attention_program.h"

#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/kernels/thread_attention_program.h"
#include "models/devices/simt/kernels/time_attention.h"
#include "tests/unit/simt/sm_specs.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::group_mma_sm;
using systole::simt::test::warp_mma_sm;

namespace {

constexpr AttentionFormats kBf16;
constexpr AttentionDesign kTiled = AttentionDesign::Tiled;
const AttentionTile kWarps{kTiled, 64, 128, 128, 4, 1, 64}, kWhole{kTiled, 64, 128, 128, 4, 1, 0},
    kFew{kTiled, 16, 128, 128, 4, 1, 0};
const AttentionTile kGroups{kTiled, 128, 128, 128, 8, 2, 0};

/// Over all warps, `amount` or `bytes` of such instructions, or how many there are.
enum class What { Count, Amount, Bytes };
std::int64_t sum_of(const CtaProgram& program, Op op, What what) {
    std::int64_t sum = 0;
    for (const Role& role : program.roles)
        for (const Section& section : role.program)
            for (const Instruction& instruction : section.body)
                if (instruction.op == op)
                    sum += role.warps * section.trips *
                           (what == What::Amount  ? instruction.amount
                            : what == What::Bytes ? instruction.bytes
                                                  : 1);
    return sum;
}

}  // namespace

TEST_CASE("A step of attention multiplies queries by keys and shares by values, all of them") {
    for (const AttentionTile& tile : {kWarps, kWhole, kFew}) {
        const CtaProgram program = attention_program(tile, kBf16, {3, 1}, warp_mma_sm());
        CHECK(sum_of(program, Op::Mma, What::Amount) == 3 * 2 * tile.m * tile.n * tile.dim);
    }
    const CtaProgram program = attention_program(kGroups, kBf16, {3, 1}, group_mma_sm());
    CHECK(sum_of(program, Op::GroupMma, What::Amount) == 3 * 2 * 128 * 128 * 128);
}

TEST_CASE("Queries are copied once, and keys and values of each block once, whole or in slices") {
    const std::int64_t block = 128 * 128 * 2;
    const auto copied = [](const AttentionTile& tile, std::int64_t steps) {
        return sum_of(attention_program(tile, kBf16, {steps, 0}, warp_mma_sm()), Op::AsyncCopy, What::Bytes);
    };
    CHECK(copied(kWhole, 3) == 64 * 128 * 2 + 3 * 2 * block);
    CHECK(copied(kWarps, 3) == copied(kWhole, 3));
    const CtaProgram program = attention_program(kGroups, kBf16, {5, 0}, group_mma_sm());
    CHECK(sum_of(program, Op::BulkCopy, What::Bytes) == 128 * 128 * 2 + 5 * 2 * block);
}

TEST_CASE("Specialized warps multiply all scores and values, and add up rows by products with ones") {
    AttentionTile tile{AttentionDesign::Specialized, 16, 256, 128, 8};
    const CtaProgram program = attention_program(tile, kBf16, {3, 1}, warp_mma_sm());
    CHECK(sum_of(program, Op::Mma, What::Amount) == 3 * (2 * 16 * 256 * 128 + 16 * 256 * 8));
    // Queries; keys and values of each block; and what is asked for behind the last one: a part of the heads
    // of 256 keys, and a tile of each of four warps of values.
    const std::int64_t tiles = 4 * 64 * 64 * 2;
    CHECK(sum_of(program, Op::AsyncCopy, What::Bytes) == 16 * 128 * 2 + 3 * 2 * 256 * 128 * 2 + 2 * tiles);
    CHECK(sum_of(program, Op::GlobalStore, What::Bytes) == 16 * 128 * 2);
}

TEST_CASE("Of a sequence of few keys, XQA's other warps of values join their results all the same") {
    const auto program = [](std::int64_t dim, std::int64_t keys) {
        return attention_program({AttentionDesign::Specialized, 16, keys, dim, 8}, kBf16, {1, 0},
                                 warp_mma_sm());
    };
    for (const std::int64_t dim : {64, 128, 256}) {
        CHECK(program(dim, 64).warps() == 8);
        CHECK(program(dim, 256).warps() == 8);
        CHECK(sum_of(program(dim, 64), Op::GlobalStore, What::Bytes) == 16 * dim * 2);
    }
    // Groups of d / 64 warps: of 64 elements four, of 128 two, which leave sums of 16 rows x 64 in 16 bits
    // for each other and read them of all; of 256 one, which has nobody to meet.
    const auto stored = [&](std::int64_t dim) {
        const CtaProgram of_few = program(dim, 64);
        std::int64_t bytes = 0;
        for (const Role& role : of_few.roles) {
            if (&role == &of_few.roles.front() || role.program.size() < 2) continue;  // scores
            for (const Instruction& instruction : role.program.back().body)
                if (instruction.op == Op::SharedStore && instruction.bytes == 512)
                    bytes += role.warps * instruction.bytes;
        }
        return bytes;
    };
    const std::int64_t tile = 16 * 64 * 2;
    CHECK(stored(256) == 4 * tile);
    CHECK(stored(128) == 4 * (tile + tile / 2));
    CHECK(stored(64) == 4 * (tile + tile / 4));
}

TEST_CASE("Of a short sequence, warps without a row of keys or values only wait") {
    AttentionTile tile{AttentionDesign::Threads, 1, 128, 128, 8};
    tile.keys = 4;  // 16 threads share a row, so a warp has two rows, four of keys of each under way
    CHECK(warps_of_rows(tile, DType::Bf16, 32).keys == 4);
    CHECK(warps_of_rows(tile, DType::Bf16, 32).values == 2);
    CHECK(warps_of_rows(tile, DType::Bf16, 32).loads_of_keys == 4);
    tile.keys = 64;  // four of all 16 rows
    CHECK(warps_of_rows(tile, DType::Bf16, 32).loads_of_keys == 4);
    tile.keys = 65;
    CHECK(warps_of_rows(tile, DType::Bf16, 32).loads_of_keys == 8);
    tile.keys = 128;
    CHECK(warps_of_rows(tile, DType::Bf16, 32).values == 8);
    const CtaProgram program = attention_program(tile, kBf16, {6, 0}, warp_mma_sm());
    CHECK(sum_of(program, Op::GlobalLoad, What::Bytes) == 128 * 2 + 6 * 128 * 128 * 2);
    CHECK(sum_of(program, Op::GlobalStore, What::Bytes) == 128 * 2);
    // Five divisions of each warp take three each, all scores one for where they stand, five warps with three
    // rounds of scores one for each, and each warp one for the sum.
    CHECK(sum_of(program, Op::Special, What::Count) == 8 * 5 * 3 + 3 * 8 * 8 + 5 * 3 + 8);
}

TEST_CASE("Each score takes an exponential, and each row one for what its largest has grown by") {
    // 64 x 128 scores of 32 threads; two rows a thread of each warp's 16, whose sums take a reciprocal.
    const CtaProgram program = attention_program(kWhole, kBf16, {3, 0}, warp_mma_sm());
    CHECK(sum_of(program, Op::Special, What::Count) == 3 * (64 * 128 / 32 + 4 * 2) + 4 * 2);
}

TEST_CASE("Exponentials of e take two more instructions of each score than those of 2") {
    AttentionTile natural = kWhole;
    natural.base_e = true;
    const auto fp32 = [](const AttentionTile& tile) {
        return sum_of(attention_program(tile, kBf16, {3, 0}, warp_mma_sm()), Op::Fp32, What::Count);
    };
    CHECK(fp32(natural) - fp32(kWhole) == 3 * 2 * 64 * 128 / 32);
}

TEST_CASE("A mask is a comparison and a selection of each score") {
    for (const AttentionTile& tile : {kWarps, kGroups}) {
        const SmSpec sm = tile.stages > 1 ? group_mma_sm() : warp_mma_sm();
        const auto integers = [&](std::int64_t masked) {
            return sum_of(attention_program(tile, kBf16, {4, masked}, sm), Op::Integer, What::Count);
        };
        CHECK(integers(2) - integers(0) == 2 * 2 * tile.m * tile.n / 32);
        CHECK(integers(4) - integers(0) == 4 * 2 * tile.m * tile.n / 32);
    }
}

TEST_CASE("A part of the keys leaves twice the bytes") {
    const auto stored = [](DType out) {
        return sum_of(attention_program(kFew, {DType::Bf16, out}, {2, 0}, warp_mma_sm()), Op::GlobalStore,
                      What::Bytes);
    };
    CHECK(stored(DType::Bf16) == 16 * 128 * 2);
    CHECK(stored(DType::Fp32) == 16 * 128 * 4);
}

TEST_CASE(
    "wgmma's results leave by threads, half a sector of each row, which takes the port as a whole one does") {
    const auto stored = [](DType out) {
        return sum_of(attention_program(kGroups, {DType::Bf16, out}, {2, 0}, group_mma_sm()), Op::GlobalStore,
                      What::Bytes);
    };
    CHECK(stored(DType::Bf16) == 2 * 128 * 128 * 2);
    CHECK(stored(DType::Fp32) == 128 * 128 * 4);
    const CtaProgram program = attention_program(kGroups, kBf16, {2, 0}, group_mma_sm());
    CHECK(sum_of(program, Op::GlobalStore, What::Count) == 8 * 2 * 128 / 8);
    CHECK(sum_of(program, Op::BulkStore, What::Count) == 0);
}

TEST_CASE("A copy of XQA takes two instructions more where the sequence may have no such key") {
    const AttentionTile tile{AttentionDesign::Specialized, 16, 256, 128, 8};
    const auto of_copies = [&](std::int64_t steps, Op op) {
        const auto sum = [&](std::int64_t blocks) {
            return sum_of(attention_program(tile, kBf16, {blocks, 0}, warp_mma_sm()), op, What::Count);
        };
        return sum(steps + 1) - sum(steps);
    };
    // From two blocks to three: a block's copies, all of whole tiles. From one to two those that were at the
    // sequence's end take less.
    const std::int64_t copies = of_copies(2, Op::AsyncCopy);
    CHECK(copies == 2 * 256 * 128 * 2 / 512);
    const std::int64_t of_one = sum_of(attention_program(tile, kBf16, {1, 0}, warp_mma_sm()), Op::AsyncCopy,
                                       What::Count) -
                                8;  // of queries
    CHECK(of_copies(2, Op::Integer) - of_copies(1, Op::Integer) == of_one);
}

TEST_CASE("A step of attention is no shorter than its products, nor than what passes through shared memory") {
    const AttentionTiming warps = time_attention(kWarps, kBf16, 1, 1, warp_mma_sm()).value();
    CHECK(warps.cta.resident == 2);  // 80 KiB of 164
    CHECK(warps.cta.busy == Approx(2 * 64 * 128 * 128 / 1024));
    // Four warps of 16 rows: each reads all keys and values, and its queries; what is copied, too.
    const double read = 4 * (2 * 128 * 256 + 16 * 256), written = 2 * 128 * 256;
    CHECK(warps.cta.interval_full / 2 >= (read + written) / 128);
    CHECK(warps.cta.interval_alone > warps.cta.interval_full / 2);
    CHECK(warps.masked > 0);
    CHECK(warps.cta.ahead == 1);
    REQUIRE(warps.cta.meet);
    CHECK(*warps.cta.meet > 0);
    CHECK(*warps.cta.meet < warps.cta.interval_alone);

    const AttentionTiming groups = time_attention(kGroups, kBf16, 1, 1, group_mma_sm()).value();
    CHECK(groups.cta.resident == 1);
    CHECK(groups.cta.ahead == 2);
    CHECK(groups.cta.interval_alone >= 2.0 * 128 * 128 * 128 / 2048);
    // Both groups' products end together, and so their softmax meets: exponentials of both, 16 a cycle,
    // overlap no products, and before them come maxima, 64 a cycle.
    const double products = 2.0 * 128 * 128 * 128 / 2048, scores = 128.0 * 128;
    CHECK(groups.cta.interval_alone > products + scores / 16);
    CHECK(groups.cta.interval_alone < products + scores / 16 + scores / 64);
    CHECK_FALSE(groups.cta.meet);
}

TEST_CASE("An SM without room for a block takes no attention kernel") {
    SmSpec sm = warp_mma_sm();
    sm.shared.most_of_cta = Bytes(48 * 1024);
    CHECK_FALSE(time_attention(kWarps, kBf16, 1, 1, sm));
}
