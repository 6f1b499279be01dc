// SPDX-License-Identifier: Apache-2.0
// Pools and depthwise convolutions: what CTAs read, multiply and store, by hand and window by window.
#include "models/devices/simt/machine/window_blocks.h"

#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/time_vector.h"
#include "models/devices/simt/kernels/vector_program.h"
#include "tests/unit/simt/gpu_config.h"

using namespace systole;
using namespace systole::simt;

namespace {

constexpr std::int64_t kIn = 1 << 20, kOut = 1 << 24, kWeights = 1 << 25, kBias = 1 << 26, kSums = 1 << 27;

VectorPlan plan_of(const VectorKernel& kernel) {
    VectorPlan plan;
    plan.kernel = kernel;
    plan.sms = 132;
    const ConvGather& windows = *kernel.windows;
    const std::int64_t elements = windows.in_pixels() * windows.channels;
    plan.in = {{{kIn, Operand::Activations, Bytes(2 * elements), Bytes(0)}, elements}};
    plan.to = {{kOut, Operand::Outputs, Bytes(2 * kernel.cols), Bytes(0)}, kernel.cols};
    if (kernel.weighted)
        plan.columns = {{kWeights, Operand::Weights, Bytes(2 * windows.taps() * windows.channels), Bytes(0)}};
    if (kernel.biased)
        plan.columns.push_back({kBias, Operand::Weights, Bytes(4 * windows.channels), Bytes(0)});
    plan.sums = {kSums, Operand::PartialSums, Bytes(4 * kernel.cols * kernel.parts), Bytes(0)};
    return plan;
}

std::int64_t taken(const TileAccess& access, Operand operand) {
    std::int64_t sum = 0;
    for (const TileAccess::Block& block : access.blocks)
        if (block.operand == operand) sum += block.taken() * block.sms;
    return sum;
}

SmSpec sm() {
    return systole::test::shipped_gpu("h100").sm;
}

/// Bytes of what all CTAs read of the map.
std::int64_t of_map(const VectorPlan& plan) {
    const WindowBlocks blocks(plan);
    std::int64_t sum = 0;
    for (std::int64_t step = 0; step < plan.kernel.steps(); ++step)
        sum += taken(blocks.reads({0, blocks.ctas()}, step), Operand::Activations);
    return sum;
}

}  // namespace

TEST_CASE("A pool of windows side by side reads its map once") {
    const VectorPlan plan =
        plan_of(pool_kernel({Pool::Kind::Max, 2, 16, 16, 64, 2, 2, 2}, DType::Fp16, DType::Fp16, sm()));
    CHECK(plan.kernel.ctas() == 2 * 8 * 8 * 64 / 128);
    CHECK(plan.kernel.steps() == 2);
    CHECK(plan.kernel.loads_of_step() == 2);
    CHECK(of_map(plan) == 2 * 2 * 16 * 16 * 64);
    const WindowBlocks blocks(plan);
    // Eight CTAs stand for one of 1024 threads: 16 outputs, two rows of the map of 16 pixels.
    const TileAccess first = blocks.reads({0, 1}, 0);
    CHECK(first.bytes_of_sm == 2 * 2 * 16 * 64 / 8);
    CHECK(blocks.writes({0, 3}).bytes_of_sm == 2 * 128);
    CHECK(taken(blocks.writes({0, 3}), Operand::Outputs) == 3 * 2 * 128);
    CHECK(blocks.macs({0, blocks.ctas()}) == 0);
}

TEST_CASE("Rows of windows that overlap are read again, columns come out of the L1") {
    // 3 x 3 by two, without padding: 31 pixels make 15. A CTA's 16 pixels of 64 channels are a row and one
    // more.
    const VectorPlan plan =
        plan_of(pool_kernel({Pool::Kind::Max, 1, 31, 31, 128, 3, 3, 2}, DType::Fp16, DType::Fp16, sm()));
    CHECK(plan.kernel.loads_of_step() == 2);  // of three columns, one is its neighbour's
    // Of a row of 15 outputs, two CTAs of eight at most share pixels of 2 x 8 + 1 columns.
    const std::int64_t once = 2 * 31 * 31 * 128;
    CHECK(of_map(plan) > once);
    CHECK(of_map(plan) < once * 3 / 2 * 6 / 5);
    // A window at a time where channels fill a CTA.
    const VectorKernel wide =
        pool_kernel({Pool::Kind::Max, 1, 31, 31, 1024, 3, 3, 2}, DType::Fp16, DType::Fp16, sm());
    CHECK(wide.loads_of_step() == 3);
    CHECK(of_map(plan_of(wide)) == 2 * 15 * 15 * 9 * 1024);
}

TEST_CASE("A map's mean is shared by four warps, which have four loads under way each") {
    const VectorKernel kernel =
        pool_kernel({Pool::Kind::Average, 1, 7, 7, 2048, 7, 7, 7}, DType::Fp16, DType::Fp16, sm());
    CHECK(kernel.warps == 4);
    CHECK(kernel.sharing == 4);
    CHECK(kernel.parts == 1);
    CHECK(kernel.ctas() == 16);  // of 32 x 4 results
    CHECK(kernel.steps() == 4);  // of 16 pixels each: 49
    const VectorPlan plan = plan_of(kernel);
    CHECK(of_map(plan) == 2 * 49 * 2048);
    const WindowBlocks blocks(plan);
    CHECK(blocks.reads({0, 1}, 0).bytes_of_sm == 2 * 16 * 128);
    CHECK(blocks.reads({0, 1}, 3).bytes_of_sm == 2 * 1 * 128);
    CHECK(taken(blocks.writes({0, 16}), Operand::Outputs) == 2 * 2048);
}

TEST_CASE("CTAs that share a large map leave sums for one of them") {
    // 3136 pixels of four warps: 784 values a thread; 16 at least, so 49 CTAs.
    const VectorKernel kernel =
        pool_kernel({Pool::Kind::Average, 1, 56, 56, 96, 56, 56, 56}, DType::Fp16, DType::Fp16, sm());
    CHECK(kernel.parts == 49);
    CHECK(kernel.ctas() == 49);
    CHECK(kernel.steps() == 4);  // 64 pixels a CTA
    const VectorPlan plan = plan_of(kernel);
    CHECK(of_map(plan) == 2 * 3136 * 96);
    const WindowBlocks blocks(plan);
    CHECK(taken(blocks.writes({0, 49}), Operand::PartialSums) == 4 * 49 * 96);
    CHECK(taken(blocks.writes({0, 49}), Operand::Outputs) == 2 * 96);
    CHECK(taken(blocks.writes({1, 48}), Operand::Outputs) == 0);
    CHECK(taken(blocks.reads({0, 49}, 4), Operand::PartialSums) == 4 * 49 * 96);
    CHECK(blocks.reads({1, 48}, 4).blocks.empty());
}

TEST_CASE("Depthwise convolutions multiply each tap, and bring weights into each SM's L1 once") {
    Conv2d conv{1, 56, 56, 96, 96, 3, 3, 1, 1, 1, 96};
    conv.bias = true;
    const VectorPlan plan = plan_of(depthwise_kernel(conv, DType::Fp16, DType::Fp16));
    const WindowBlocks blocks(plan);
    CHECK(blocks.ctas() == 56 * 56 * 96 / 128);
    CHECK(blocks.macs({0, blocks.ctas()}) == systole::macs(Operator(conv)).value());
    std::int64_t weights = 0;
    for (std::int64_t step = 0; step < plan.kernel.steps(); ++step) {
        weights += taken(blocks.reads({0, blocks.ctas()}, step), Operand::Weights);
        CHECK(taken(blocks.reads({132, 100}, step), Operand::Weights) == 0);
    }
    CHECK(weights == 132 * (2 * 9 * 96 + 4 * 96));
}

TEST_CASE("A depthwise kernel's threads load a row of taps and weights together, and add products of each") {
    Conv2d conv{1, 56, 56, 96, 96, 3, 3, 1, 1, 1, 96};
    const VectorKernel kernel = depthwise_kernel(conv, DType::Fp16, DType::Fp16);
    const CtaProgram program = vector_program(kernel);
    CHECK(program.warps() == 4);
    std::int64_t loads = 0, out_of_l1 = 0, fp32 = 0;
    for (const Section& section : program.roles.front().program)
        for (const Instruction& instruction : section.body) {
            loads += instruction.op == Op::GlobalLoad ? section.trips : 0;
            out_of_l1 += instruction.op == Op::SharedLoad ? section.trips : 0;
            fp32 += instruction.op == Op::Fp32 ? section.trips : 0;
        }
    // Of three columns one is new where windows move by one.
    CHECK(loads == 3 * 1);
    CHECK(out_of_l1 == 3 * (2 + 3));
    // Two conversions and a product that adds, for each of nine taps.
    CHECK(fp32 == 9 * 3);
    VectorKernel timed = kernel;
    CHECK(time_vector(timed, sm()).value().resident == 16);  // of 64 warps
}
