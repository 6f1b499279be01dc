// SPDX-License-Identifier: Apache-2.0
// What products of experts, and of groups, become: one grid, with weights and biases of their own.
#include <catch2/catch.hpp>

#include "models/devices/simt/machine/gemm_blocks.h"
#include "tests/unit/simt/planned.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::planned;

TEST_CASE("Experts that are met are a batch, and weights of the others are not touched") {
    // Three of eight experts, 20 rows each.
    const ChipPlan chip = planned("a100", "[3, 20, 512]",
                                  "  - {name: y, op: matmul, in: x, n: 1024, experts: 8, bias: true}\n", "y");
    const LayerPlan& layer = chip.layers.at(0);
    const auto& gemm = std::get<GemmPlan>(layer.kernels.at(0));
    CHECK(gemm.kernel.shape.batch == 3);
    CHECK_FALSE(gemm.kernel.shape.shared_b);
    CHECK(gemm.kernel.shape.m * gemm.kernel.shape.n == 20 * 1024);
    CHECK(layer.macs == Macs(3 * 20 * 1024 * 512));
    const MatrixPlace& weights = gemm.kernel.swapped ? gemm.a : gemm.b;
    CHECK(weights.operand == Operand::Weights);
    CHECK(weights.bytes == Bytes(3 * 512 * 1024 * 2));
    CHECK(gemm.columns.at(0).place.bytes == Bytes(3 * 1024 * 4));
    const Bytes activations(3 * 20 * (512 + 1024) * 2),
        stored = weights.bytes + gemm.columns.at(0).place.bytes;
    CHECK(layer.compulsory_dram == activations + stored);
    CHECK(chip.compulsory_dram == activations + stored);
}

TEST_CASE("Scales of experts' columns are touched as their weights are, and read once") {
    const std::string keys =
        "  - {name: y, op: matmul, in: x, n: 1024, experts: 8, out_dtype: bf16, scales: ";
    const auto planned_with = [&](const std::string& scales) {
        return planned("h100", "[3, 20, 512]", keys + scales + "}\n", "y", "fp8");
    };
    const ChipPlan one = planned_with("tensor"), many = planned_with("channel");
    const Bytes scales(3 * 1024 * 2);
    CHECK(many.layers.at(0).compulsory_dram - one.layers.at(0).compulsory_dram == scales);
    CHECK(many.compulsory_dram - one.compulsory_dram == scales);
    const auto& gemm = std::get<GemmPlan>(many.layers.at(0).kernels.at(0));
    REQUIRE(gemm.columns.size() == 1);
    CHECK(gemm.columns.at(0).place.bytes == scales);
    CHECK(gemm.columns.at(0).value_bytes == 2);
    CHECK(std::get<GemmPlan>(one.layers.at(0).kernels.at(0)).columns.empty());
}

TEST_CASE("Groups of a convolution have a bias of their own each") {
    const ChipPlan chip =
        planned("h100", "[1, 16, 16, 128]",
                "  - {name: y, op: conv2d, in: x, filters: 256, kernel: 1, groups: 2, bias: true}\n", "y");
    const auto& gemm = std::get<GemmPlan>(chip.layers.at(0).kernels.at(0));
    REQUIRE(gemm.kernel.split_k == 1);
    const GemmBlocks blocks(gemm);
    // Of all CTAs, behind all they read of the product: each value of the 256 by somebody.
    std::int64_t first = gemm.columns.at(0).place.address + gemm.columns.at(0).place.bytes.value(), end = 0;
    for (std::int64_t step = blocks.steps(0); step <= blocks.steps(0) + 1; ++step)
        for (const TileAccess::Block& block : blocks.reads({0, blocks.ctas()}, step).blocks)
            if (block.operand == Operand::Weights && block.matrix == gemm.columns.at(0).place.range()) {
                first = std::min(first, block.address);
                end = std::max(end, block.address + block.bytes);
            }
    CHECK(first == gemm.columns.at(0).place.address);
    CHECK(end == gemm.columns.at(0).place.address + 256 * 4);
}
