// SPDX-License-Identifier: Apache-2.0
// What layers of convolutional networks become: kernels, and where their operands lie.
#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/simt/planned.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::planned;

TEST_CASE("A first layer's map is copied with padded channels to where nothing else lies") {
    const ChipPlan chip =
        planned("a100", "[2, 30, 30, 3]",
                "  - {name: y, op: conv2d, in: x, filters: 64, kernel: 7, stride: 2, pad: 3}\n", "y");
    const std::vector<KernelPlan>& kernels = chip.layers.at(0).kernels;
    REQUIRE(kernels.size() >= 2);
    const auto& copy = std::get<StreamPlan>(kernels[0]);
    const auto& gemm = std::get<GemmPlan>(kernels[1]);
    CHECK(copy.from.bytes == Bytes(2 * 30 * 30 * 3 * 2));
    CHECK(copy.to.bytes == Bytes(2 * 30 * 30 * 8 * 2));
    CHECK(gemm.a.address == copy.to.address);
    CHECK(gemm.a.bytes == copy.to.bytes);
    for (const TensorPlace& tensor : chip.tensors)
        CHECK(gemm.a.address >= tensor.address + tensor.bytes.value());
    if (gemm.kernel.split_k > 1) CHECK(gemm.sums.address + gemm.sums.bytes.value() <= gemm.a.address);
    CHECK(gemm.kernel.shape.k == 7 * 7 * 3);
    CHECK(gemm.b.bytes == Bytes(64 * 7 * 7 * 3 * 2));
}

TEST_CASE("Of windows of one pixel two apart the product's matrix is a quarter of the map") {
    const ChipPlan chip =
        planned("h100", "[1, 28, 28, 256]",
                "  - {name: y, op: conv2d, in: x, filters: 512, kernel: 1, stride: 2}\n", "y");
    REQUIRE(chip.layers.at(0).kernels.size() == 1);
    const auto& gemm = std::get<GemmPlan>(chip.layers[0].kernels[0]);
    CHECK(!gemm.kernel.shape.gather);
    const MatrixPlace& map = gemm.kernel.swapped ? gemm.b : gemm.a;
    CHECK(map.bytes == Bytes(14 * 14 * 256 * 2));
    CHECK(map.operand == Operand::Activations);
}

TEST_CASE("What follows a convolution joins it, but no depthwise one, which multiplies on other pipes") {
    const std::string dense = "  - {name: y, op: conv2d, in: x, filters: 96, kernel: 3, pad: 1}\n";
    const std::string depthwise =
        "  - {name: y, op: conv2d, in: x, filters: 96, kernel: 3, pad: 1, groups: 96}\n";
    const std::string add = "  - {name: z, op: elementwise, kind: add, in: [y, x], activation: relu}\n";
    const ChipPlan joined = planned("h100", "[1, 28, 28, 96]", dense + add, "z");
    REQUIRE(joined.layers.size() == 1);
    CHECK(std::get<GemmPlan>(joined.layers[0].kernels.front()).kernel.shape.epilogue.join);
    const ChipPlan apart = planned("h100", "[1, 28, 28, 96]", depthwise + add, "z");
    REQUIRE(apart.layers.size() == 2);
    const auto& windows = std::get<VectorPlan>(apart.layers[0].kernels.front());
    CHECK(windows.kernel.weighted);
    CHECK(windows.macs_per_cycle == 4 * 512);
    CHECK(apart.layers[0].macs == Macs(28 * 28 * 96 * 9));
}

TEST_CASE("A large map's mean has room for sums of its parts behind all tensors") {
    const ChipPlan chip =
        planned("h100", "[1, 56, 56, 96]", "  - {name: y, op: pool, kind: average, global: true}\n", "y");
    const auto& mean = std::get<VectorPlan>(chip.layers.at(0).kernels.front());
    CHECK(mean.kernel.parts == 49);
    CHECK(mean.sums.bytes == Bytes(49 * 96 * 4));
    for (const TensorPlace& tensor : chip.tensors)
        CHECK(mean.sums.address >= tensor.address + tensor.bytes.value());
}
