// SPDX-License-Identifier: Apache-2.0
// Convolutions of few multiplications, attention without a kernel of one piece, and a library of 2017.
#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/simt/planned.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::planned;

namespace {

const std::string kThree =
    "  - {name: y, op: conv2d, in: x, filters: 96, kernel: 3, pad: 1, bias: true, activation: relu}\n";

bool by_winograd(const ChipPlan& chip) {
    return chip.layers.at(0).mapping.starts_with("Winograd");
}

}  // namespace

TEST_CASE("Winograd's kernels hand each other tiles of 6 x 6 points, and multiply a fourth") {
    // 7 x 8 tiles of 4 x 4 results in each of 8 images of 28 x 30
    const ChipPlan chip = planned("v100", "[8, 28, 30, 64]", kThree, "y", "fp32");
    REQUIRE(by_winograd(chip));
    const LayerPlan& layer = chip.layers.at(0);
    REQUIRE(layer.kernels.size() == 4);
    const auto& weights = std::get<StreamPlan>(layer.kernels[0]);
    const auto& data = std::get<StreamPlan>(layer.kernels[1]);
    const auto& product = std::get<GemmPlan>(layer.kernels[2]);
    const auto& output = std::get<StreamPlan>(layer.kernels[3]);
    const std::int64_t tiles = 8 * 7 * 8;
    CHECK(weights.from.bytes == Bytes(9 * 64 * 96 * 4));
    CHECK(weights.to.bytes == Bytes(36 * 64 * 96 * 4));
    CHECK(data.from.bytes == Bytes(8 * 28 * 30 * 64 * 4));
    CHECK(data.to.bytes == Bytes(36 * tiles * 64 * 4));
    CHECK(output.from.bytes == Bytes(36 * tiles * 96 * 4));
    CHECK(output.to.bytes == Bytes(8 * 28 * 30 * 96 * 4));
    CHECK(product.kernel.shape.batch == 36);
    CHECK(product.kernel.shape.m * product.kernel.shape.n == tiles * 96);
    CHECK((product.kernel.swapped ? product.b : product.a).address == data.to.address);
    CHECK((product.kernel.swapped ? product.a : product.b).address == weights.to.address);
    CHECK(product.c.address == output.from.address);
    CHECK(output.columns.at(0).place.bytes == Bytes(96 * 4));
    CHECK(output.finish.bias);
    CHECK(layer.macs == Macs(36 * tiles * 64 * 96));
    for (const TensorPlace& tensor : chip.tensors)
        CHECK(weights.to.address >= tensor.address + tensor.bytes.value());
    CHECK(data.to.address >= weights.to.address + weights.to.bytes.value());
    CHECK(output.from.address >= data.to.address + data.to.bytes.value());
}

TEST_CASE("Other convolutions multiply as often as they have MACs") {
    const auto conv = [](const std::string& more) {
        return "  - {name: y, op: conv2d, in: x, filters: 128, " + more + "}\n";
    };
    const auto plan = [&](const std::string& more, const std::string& dtype = "fp32",
                          const std::string& gpu = "v100") {
        return planned(gpu, "[8, 28, 28, 128]", conv(more), "y", dtype);
    };
    CHECK(by_winograd(plan("kernel: 3, pad: 1")));
    CHECK(by_winograd(plan("kernel: 5, pad: 2")));
    CHECK(by_winograd(plan("kernel: 3, pad: 1", "fp32", "a100")));
    CHECK_FALSE(by_winograd(plan("kernel: 3, pad: 1", "fp16")));
    CHECK_FALSE(by_winograd(plan("kernel: 3, pad: 1, stride: 2")));
    CHECK_FALSE(by_winograd(plan("kernel: 3, pad: 1, dilation: 2")));
    CHECK_FALSE(by_winograd(plan("kernel: [3, 5], pad: 1")));
    CHECK_FALSE(by_winograd(plan("kernel: 1")));
    CHECK_FALSE(by_winograd(plan("kernel: 3, pad: 1, groups: 4")));
    // A few channels: transforms would move more than they save.
    CHECK_FALSE(by_winograd(planned("v100", "[8, 28, 28, 1]", conv("kernel: 3, pad: 1"), "y", "fp32")));
}

TEST_CASE("A library of 2017 takes K in parts for no product, and for one kernel of convolutions") {
    const SimtSpec spec = systole::test::shipped_gpu("v100");
    KernelChooser chooser(spec);
    GemmShape shape{.m = 16, .n = 1760, .k = 1760, .dtype = DType::Fp16, .output = DType::Fp16};
    for (const TimedKernel& one : chooser.weigh(shape)) CHECK(one.kernel.split_k == 1);
    shape.convolution = true;
    bool parts = false;
    for (const TimedKernel& one : chooser.weigh(shape)) {
        parts = parts || one.kernel.split_k > 1;
        CHECK((one.kernel.split_k == 1 || (one.kernel.tile.m == 128 && one.kernel.tile.n == 128)));
    }
    CHECK(parts);
    shape.dtype = DType::Fp32;
    for (const TimedKernel& one : chooser.weigh(shape)) CHECK(one.kernel.split_k == 1);
}

TEST_CASE("In fp32 maps are taken as they are; a tap of quad-pairs' steps has all of its channels") {
    const std::string first = "  - {name: y, op: conv2d, in: x, filters: 64, kernel: 7, stride: 2, pad: 3}\n";
    const ChipPlan lanes = planned("v100", "[2, 30, 30, 3]", first, "y", "fp32");
    REQUIRE(lanes.layers.at(0).kernels.size() == 1);
    const auto& gemm = std::get<GemmPlan>(lanes.layers[0].kernels[0]);
    // Two taps of three channels in each step of eight.
    CHECK(gemm.kernel.shape.gather->stored == 3);
    CHECK(gemm.kernel.steps() == 25);
    const ChipPlan quads = planned("v100", "[2, 30, 30, 3]", first, "y");
    const auto& padded = std::get<GemmPlan>(quads.layers.at(0).kernels.at(1));
    CHECK(padded.kernel.shape.gather->stored == 8);
    CHECK(padded.kernel.steps() == 49);
}
