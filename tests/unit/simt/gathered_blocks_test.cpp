// SPDX-License-Identifier: Apache-2.0
// What CTAs of a convolution take, against windows walked pixel by pixel.
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "models/devices/simt/machine/gemm_blocks.h"

using namespace systole;
using namespace systole::simt;

namespace {

constexpr std::int64_t kA = 1 << 20, kB = 1 << 24, kC = 1 << 25;

GemmPlan plan_of(const Conv2d& conv, std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmPlan plan;
    GemmShape& shape = plan.kernel.shape;
    shape.batch = conv.groups;
    shape.m = conv.pixels();
    shape.n = conv.out_c / conv.groups;
    shape.k = conv.taps() * conv.in_c / conv.groups;
    shape.shared_b = conv.groups == 1;
    shape.gather = gather_of(conv, loads_of(16));
    plan.kernel.tile = {m, n, k, 3, 1, 1};
    plan.a = {kA, Operand::Activations, Bytes(2 * shape.a_elements()), Bytes(0)};
    plan.b = {kB, Operand::Weights, Bytes(2 * shape.batch * shape.n * shape.k), Bytes(0)};
    plan.c = {kC, Operand::Outputs, Bytes(2 * shape.batch * shape.m * shape.n), Bytes(0)};
    return plan;
}

std::int64_t taken(const TileAccess& access, Operand operand) {
    std::int64_t sum = 0;
    for (const TileAccess::Block& block : access.blocks)
        if (block.operand == operand) sum += block.taken() * block.sms;
    return sum;
}

/// Of all output pixels and taps, those that meet no zero.
std::int64_t inside(const Conv2d& c) {
    std::int64_t sum = 0;
    for (std::int64_t p = 0; p < c.out_h(); ++p)
        for (std::int64_t q = 0; q < c.out_w(); ++q)
            for (std::int64_t r = 0; r < c.kernel_h; ++r)
                for (std::int64_t s = 0; s < c.kernel_w; ++s) {
                    const std::int64_t y = p * c.stride + r * c.dilation - c.pad;
                    const std::int64_t x = q * c.stride + s * c.dilation - c.pad;
                    sum += y >= 0 && y < c.in_h && x >= 0 && x < c.in_w ? 1 : 0;
                }
    return sum * c.batch;
}

}  // namespace

TEST_CASE("CTAs of a convolution take every pixel under every tap once for each column of tiles") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (int i = 0; i < 60; ++i) {
        Conv2d conv;
        conv.groups = pick(1, 2);
        conv.batch = pick(1, 3);
        conv.in_h = pick(8, 13);
        conv.in_w = pick(8, 13);
        conv.in_c = 8 * conv.groups * pick(2, 9);
        conv.out_c = conv.groups * pick(1, 40);
        conv.kernel_h = pick(2, 3);
        conv.kernel_w = pick(1, 3);
        conv.stride = pick(1, 2);
        conv.pad = pick(0, 1);
        GemmPlan plan = plan_of(conv, 32, 16, 32);
        plan.kernel.split_k = pick(1, 3);
        plan.sums = {1 << 26, Operand::PartialSums, Bytes(1 << 24), Bytes(0)};
        const GemmBlocks blocks(plan);
        std::int64_t together = 0, apart = 0, weights = 0, macs = 0;
        const std::int64_t half = (blocks.ctas() + 1) / 2;
        for (std::int64_t step = 0; step < plan.kernel.steps_of_part(); ++step) {
            for (const CtaRange range : {CtaRange{0, half}, CtaRange{half, blocks.ctas() - half}})
                if (range.count > 0) together += taken(blocks.reads(range, step), Operand::Activations);
            for (std::int64_t cta = 0; cta < blocks.ctas(); ++cta) {
                const TileAccess own = blocks.reads_of_one(cta, step);
                apart += taken(own, Operand::Activations);
                weights += taken(own, Operand::Weights);
                CHECK(taken(own, Operand::Activations) + taken(own, Operand::Weights) == own.bytes_of_sm);
                for (const TileAccess::Block& block : own.blocks) {
                    const MatrixPlace& matrix = block.operand == Operand::Weights ? plan.b : plan.a;
                    CHECK(block.address >= matrix.address);
                    CHECK(block.address + block.bytes <= matrix.address + matrix.bytes.value());
                }
            }
        }
        for (std::int64_t cta = 0; cta < blocks.ctas(); ++cta) macs += blocks.macs({cta, 1});
        const GemmKernel& kernel = plan.kernel;
        CHECK(apart == 2 * inside(conv) * conv.in_c * kernel.tiles_n());
        CHECK(together == apart);
        CHECK(weights == plan.b.bytes.value() * kernel.tiles_m());
        CHECK(macs == systole::macs(Operator(conv)).value());
    }
}

TEST_CASE("Parts of a gathered block take all of it, each as large a part as its bytes") {
    TileAccess::Block block{1000, 96, 2};
    block.gathered = 250;
    CHECK(block.part(0, 32).taken() == 83);
    CHECK(block.part(32, 64).taken() == 83);
    CHECK(block.part(64, 96).taken() == 84);
    CHECK(block.part(32, 64).address == 1032);
    CHECK(block.part(32, 64).bytes == 32);
    TileAccess::Block plain{1000, 96, 2};
    CHECK(plain.part(32, 64).taken() == 32);
}

TEST_CASE("Neighbouring tiles of a convolution ask for one range of a map") {
    // 28 rows of 28 pixels, 64 channels: of a tap the first tile meets rows 0 … 4, the second those behind.
    const Conv2d conv{1, 28, 28, 64, 64, 3, 3, 1, 1};
    const GemmPlan plan = plan_of(conv, 128, 64, 64);
    const GemmBlocks blocks(plan);
    CHECK(blocks.ctas() == 7);
    // The middle tap: pixels as they are.
    const TileAccess middle = blocks.reads({0, 7}, 4);
    std::int64_t maps = 0;
    for (const TileAccess::Block& block : middle.blocks)
        if (block.operand == Operand::Activations) {
            ++maps;
            CHECK(block.address == kA);
            CHECK(block.bytes == 2 * 784 * 64);
            CHECK(block.taken() == 2 * 784 * 64);
        }
    CHECK(maps == 1);
    // The first: a row and a column less.
    for (const TileAccess::Block& block : blocks.reads({0, 7}, 0).blocks)
        if (block.operand == Operand::Activations) CHECK(block.taken() == 2 * 27 * 27 * 64);
}
