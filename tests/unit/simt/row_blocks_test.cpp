// SPDX-License-Identifier: Apache-2.0
// Which bytes transposes, reductions and top-k take, byte by byte, by steps and in warps.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/reduce_kernel.h"
#include "models/devices/simt/kernels/top_k.h"
#include "models/devices/simt/machine/row_sum_blocks.h"
#include "models/devices/simt/machine/transpose_blocks.h"
#include "models/devices/simt/machine/vector_blocks.h"
#include "tests/unit/simt/vector_runs.h"

using namespace systole;
using namespace systole::simt;
using namespace systole::simt::test;

namespace {

VectorPlan turned(const Shape& shape, const std::vector<std::int64_t>& permutation, DType dtype,
                  const SimtSpec& spec) {
    VectorPlan plan;
    plan.kernel = with_warps_of(turn_kernel(turn_of({shape, permutation}, dtype).value(), dtype, dtype),
                                spec.sm.warp_threads);
    plan.timing = time_vector(plan.kernel, spec.sm).value();
    const std::int64_t bytes = elements(shape) * bits_of(dtype).value() / 8;
    plan.in.push_back({place(kIn, bytes), elements(shape)});
    plan.to = {place(kOut, bytes), elements(shape)};
    plan.sms = spec.sm.count;
    return plan;
}

VectorPlan reduced(const Reduce& reduce, DType dtype, const SimtSpec& spec) {
    VectorPlan plan;
    plan.kernel = row_sum_kernel(reduce, dtype, dtype, spec.sm);
    plan.timing = time_vector(plan.kernel, spec.sm).value();
    const std::int64_t size = bits_of(dtype).value() / 8, all = reduce.rows * reduce.cols;
    plan.in.push_back({place(kIn, all * size), all});
    plan.to = {place(kOut, reduce.rows * size), reduce.rows};
    if (plan.kernel.parts > 1) plan.sums = place(kSecond, reduce.rows * plan.kernel.parts * 4);
    plan.sms = spec.sm.count;
    return plan;
}

VectorPlan found(const TopK& top, DType dtype, const SimtSpec& spec) {
    VectorPlan plan = plan_of(with_warps_of(top_k_kernel(top, dtype), spec.sm.warp_threads), spec);
    plan.to = {place(kOut, top.rows * top.k * bits_of(dtype).value() / 8), top.rows * top.k};
    plan.beside = place(kColumns, top.rows * top.k * 4);
    return plan;
}

VectorPlan sorted(const TopK& top, DType dtype, const SimtSpec& spec) {
    VectorPlan plan = plan_of(with_warps_of(sort_kernel(top, dtype, spec.sm), spec.sm.warp_threads), spec);
    plan.in.push_back({place(kSecond, top.rows * top.k * 4), top.rows * top.k});
    plan.beside = place(kColumns, top.rows * top.k * 4);
    return plan;
}

std::vector<SimtSpec> machines() {
    SimtSpec waves = systole::test::shipped_gpu("mi210");
    waves.sm.count = 3;
    return {gpu(1), gpu(5), waves};
}

}  // namespace

TEST_CASE("Tiles lie one behind the other, those of the same rows as read, of the same columns as written") {
    const SimtSpec spec = gpu(4);
    // 70 x 150 in tiles of 64 x 64: two down, three across.
    const VectorPlan plan = turned({70, 150}, {1, 0}, DType::Fp16, spec);
    const TransposeBlocks blocks(plan);
    REQUIRE(blocks.ctas() == 6);
    const TileAccess second = blocks.reads({1, 1}, 0);
    CHECK(second.blocks.at(0).address == kIn + 64 * 64 * 2);
    CHECK(second.blocks.at(0).bytes == 64 * 64 * 2);
    CHECK(second.short_rows);
    // The first three have 64 whole rows, the next one 64 columns of the last six.
    const TileAccess several = blocks.reads({0, 4}, 0);
    REQUIRE(several.blocks.size() == 1);
    CHECK(several.blocks[0].bytes == 64 * 300 + 6 * 128);
    CHECK(several.bytes_of_sm == 64 * 128);
    // The last one has 22 columns of six rows, behind those of 64 rows.
    const TileAccess last = blocks.writes({5, 1});
    REQUIRE(last.blocks.size() == 1);
    CHECK(last.blocks[0].address == kOut + (128 * 70 + 22 * 64) * 2);
    CHECK(last.blocks[0].bytes == 22 * 12);
    CHECK(blocks.writes({0, 2}).blocks.size() == 2);
    // Of few columns a tile has whole rows.
    const VectorPlan thin = turned({5000, 3}, {1, 0}, DType::Fp32, spec);
    CHECK_FALSE(TransposeBlocks(thin).reads({0, 1}, 0).short_rows);
    CHECK(TransposeBlocks(thin).writes({0, 1}).short_rows);
}

TEST_CASE("Every byte of a transpose is read and written once, in either engine") {
    for (const SimtSpec& spec : machines())
        for (const bool in_warps : {false, true}) {
            INFO(fmt::format("{}, {} SMs, {}", spec.name, spec.sm.count, in_warps ? "warps" : "steps"));
            check(turned({70, 150}, {1, 0}, DType::Fp16, spec), spec, in_warps);
            check(turned({3, 33, 5, 17}, {3, 0, 1, 2}, DType::Fp32, spec), spec, in_warps);
            check(turned({2, 200, 3}, {0, 2, 1}, DType::Int8, spec), spec, in_warps);
            check(turned({128, 130}, {1, 0}, DType::Int4, spec), spec, in_warps);
        }
}

TEST_CASE(
    "Rounds of rows side by side lie one behind the other, and parts of a row are read in their places") {
    const SimtSpec spec = gpu(4);
    // 16 rows a CTA, of which a round has 128 elements.
    const VectorPlan side = reduced({Reduce::Kind::Sum, 40, 300}, DType::Fp16, spec);
    REQUIRE(side.kernel.rows_of_cta() == 16);
    const RowSumBlocks blocks(side);
    REQUIRE(blocks.ctas() == 3);
    REQUIRE(blocks.steps(0) == 3);
    CHECK(blocks.reads({0, 1}, 0).blocks.at(0).bytes == 16 * 256);
    CHECK(blocks.reads({0, 1}, 1).blocks.at(0).address == kIn + 16 * 256);
    CHECK(blocks.reads({0, 1}, 2).blocks.at(0).bytes == 16 * 88);
    // The last one has eight rows.
    CHECK(blocks.reads({2, 1}, 0).bytes_of_sm == 8 * 256);
    CHECK(blocks.writes({2, 1}).blocks.at(0).bytes == 8 * 2);
    // Three CTAs and more a row: each stores a sum, and the first one reads them, and stores the result.
    const VectorPlan shared = reduced({Reduce::Kind::Sum, 2, 200'000}, DType::Fp16, spec);
    const std::int64_t parts = shared.kernel.parts;
    REQUIRE(parts == 8);
    const RowSumBlocks of_parts(shared);
    CHECK(of_parts.ctas() == 16);
    CHECK(of_parts.reads({9, 1}, 0).blocks.at(0).address == kIn + 400'000 + 50'000);
    CHECK(of_parts.reads({9, 1}, of_parts.steps(9)).blocks.empty());
    CHECK(of_parts.reads({8, 1}, of_parts.steps(8)).bytes_of_sm == 8 * 4);
    CHECK(of_parts.writes({8, 2}).bytes_of_sm == 4 + 2);
    CHECK(of_parts.writes({9, 1}).bytes_of_sm == 4);
}

TEST_CASE("Every byte of a reduction is read once, and its sums written and read once, in either engine") {
    for (const SimtSpec& spec : machines())
        for (const bool in_warps : {false, true}) {
            INFO(fmt::format("{}, {} SMs, {}", spec.name, spec.sm.count, in_warps ? "warps" : "steps"));
            check(reduced({Reduce::Kind::Mean, 77, 9}, DType::Fp32, spec), spec, in_warps);
            check(reduced({Reduce::Kind::Sum, 40, 301}, DType::Fp16, spec), spec, in_warps);
            check(reduced({Reduce::Kind::Max, 3, 20'000}, DType::Int8, spec), spec, in_warps);
            check(reduced({Reduce::Kind::Max, 2, 200'000}, DType::Fp16, spec), spec, in_warps);
        }
}

TEST_CASE("A top-k reads its rows once, and what it finds is written and sorted once, in either engine") {
    for (const SimtSpec& spec : machines())
        for (const bool in_warps : {false, true}) {
            INFO(fmt::format("{}, {} SMs, {}", spec.name, spec.sm.count, in_warps ? "warps" : "steps"));
            for (const TopK& top : {TopK{50, 64, 6}, TopK{3, 5000, 300}, TopK{7, 20, 1}}) {
                check(found(top, DType::Bf16, spec), spec, in_warps);
                check(sorted(top, DType::Bf16, spec), spec, in_warps);
            }
        }
}

TEST_CASE("Rows of a top-k that do not stay in the L1 are asked for in every pass") {
    const SimtSpec spec = gpu(2);
    VectorPlan plan = found({3, 200'000, 5}, DType::Fp32, spec);
    REQUIRE_FALSE(plan.kernel.rereads_l1);
    check(plan, spec, false);
}
