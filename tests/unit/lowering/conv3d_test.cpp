// SPDX-License-Identifier: Apache-2.0
// Convolutions of volumes on every kind of machine: each product of an element with a weight once, slices
// that reach beyond the volume as zeros.
#include <catch2/catch.hpp>

#include "models/devices/systolic/lowering/window.h"
#include "sim/workload/trace.h"
#include "tests/support/seeds.h"
#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/random_layers.h"

namespace systole::systolic {
namespace {

using test::check;

Conv2d conv_of(std::int64_t d, std::int64_t size, std::int64_t kernel_d, std::int64_t kernel,
               std::int64_t stride_d, std::int64_t stride, std::int64_t pad_d, std::int64_t pad) {
    Conv2d op;
    op.depth = ConvDepth{d, kernel_d, stride_d, pad_d, 1};
    op.in_h = size, op.in_w = size + 1;
    op.in_c = 4, op.out_c = 6;
    op.kernel_h = op.kernel_w = kernel;
    op.stride = stride, op.pad = pad;
    return op;
}

Graph graph_of(const Conv2d& op, DType dtype) {
    const auto text = [](std::int64_t value) { return std::to_string(value); };
    return single_operator("conv3d",
                           {{"n", text(op.batch)},
                            {"d", text(op.depth->in)},
                            {"h", text(op.in_h)},
                            {"w", text(op.in_w)},
                            {"c", text(op.in_c)},
                            {"k", text(op.out_c)},
                            {"t", text(op.depth->kernel)},
                            {"r", text(op.kernel_h)},
                            {"s", text(op.kernel_w)},
                            {"stride", text(op.stride)},
                            {"pad", text(op.pad)},
                            {"dilation", text(op.dilation)},
                            {"stride_t", text(op.depth->stride)},
                            {"pad_t", text(op.depth->pad)},
                            {"dilation_t", text(op.depth->dilation)},
                            {"groups", text(op.groups)},
                            {"dtype", std::string(to_string(dtype))}},
                           {});
}

Conv2d random_conv(test::Dice& dice) {
    Conv2d op;
    ConvDepth depth;
    op.batch = dice.pick(1, 3);
    depth.in = dice.pick(1, 5), op.in_h = dice.pick(1, 5), op.in_w = dice.pick(1, 5);
    depth.pad = dice.pick(0, 2), op.pad = dice.pick(0, 2);
    depth.stride = dice.pick(1, 3), op.stride = dice.pick(1, 2);
    const auto kernel = [&](std::int64_t in, std::int64_t pad) {
        return dice.pick(1, std::min<std::int64_t>(3, in + 2 * pad));
    };
    depth.kernel = kernel(depth.in, depth.pad);
    op.kernel_h = kernel(op.in_h, op.pad), op.kernel_w = kernel(op.in_w, op.pad);
    if (2 * (depth.kernel - 1) < depth.in + 2 * depth.pad) depth.dilation = dice.pick(1, 2);
    op.groups = dice.pick(1, 3);
    const std::int64_t each = dice.pick(1, 4);
    op.in_c = op.groups * each;
    op.out_c = op.groups * dice.pick(1, 4);
    op.depth = depth;
    return op;
}

}  // namespace

TEST_CASE("Convolutions of volumes meet the right slices on every machine") {
    for (const SystolicSpec& spec : test::machines()) {
        for (Conv2d op : {conv_of(5, 4, 3, 3, 1, 1, 1, 1), conv_of(6, 5, 3, 3, 2, 2, 1, 1),
                          conv_of(4, 5, 1, 3, 1, 2, 0, 1), conv_of(5, 3, 3, 1, 2, 1, 1, 0),
                          conv_of(7, 4, 1, 1, 3, 1, 0, 0), conv_of(3, 4, 3, 3, 1, 1, 0, 1),
                          conv_of(4, 3, 2, 2, 2, 2, 2, 0), conv_of(5, 6, 1, 1, 1, 1, 0, 0),
                          conv_of(2, 4, 3, 3, 5, 1, 1, 1), conv_of(1, 4, 1, 3, 1, 1, 0, 1)}) {
            for (const std::int64_t batch : {1, 3}) {
                op.batch = batch;
                check(graph_of(op, DType::Int8), spec);
            }
        }
        Conv2d far = conv_of(7, 5, 3, 3, 1, 1, 2, 2);
        far.dilation = far.depth->dilation = 2;
        far.groups = 2;
        check(graph_of(far, DType::Bf16), spec);
    }
}

TEST_CASE("Random convolutions of volumes on random machines keep every promise") {
    for (std::uint64_t seed = 1; seed <= systole::test::enough(1000); ++seed) {
        CAPTURE(seed);
        test::Dice dice(seed);
        const SystolicSpec spec = test::random_machine(dice);
        const Conv2d op = random_conv(dice);
        if (op.depthwise() && op.taps() * op.out_c > 100)
            continue;  // weights that small buffers may not hold
        check(graph_of(op, dice.coin() ? DType::Int8 : DType::Bf16), spec);
    }
}

TEST_CASE("Volumes of one slice are images") {
    Conv2d flat = conv_of(1, 9, 1, 3, 1, 2, 0, 1);
    flat.batch = 2;
    const Program volumes =
        lower(graph_of(flat, DType::Int8), test::small_machine(), Protocol::of_op()).program;
    flat.depth.reset();
    const Graph images = single_operator("conv2d",
                                         {{"n", "2"},
                                          {"h", "9"},
                                          {"w", "10"},
                                          {"c", "4"},
                                          {"k", "6"},
                                          {"r", "3"},
                                          {"s", "3"},
                                          {"stride", "2"},
                                          {"pad", "1"},
                                          {"dtype", "int8"}},
                                         {});
    const Program same = lower(images, test::small_machine(), Protocol::of_op()).program;
    CHECK(volumes.passes == same.passes);
    CHECK(volumes.transfers == same.transfers);
    CHECK(volumes.streams.size() == same.streams.size());
}

TEST_CASE("Slices between the taps of a kernel of one are not loaded") {
    // Slices 0, 3 and 6 of 7; each a descriptor of all its rows.
    const Graph graph = graph_of(conv_of(7, 4, 1, 1, 3, 1, 0, 0), DType::Int8);
    const Lowered lowered = lower(graph, test::large_machine(), Protocol::of_op());
    std::int64_t loaded = 0;
    for (const Transfer& transfer : lowered.program.transfers)
        if (transfer.operand == Operand::Activations) loaded += transfer.bytes();
    CHECK(loaded == 3 * 4 * 5 * 4);
    CHECK(lowered.program.layers[0].compulsory_dram == 3 * 4 * 5 * 4 + 4 * 6 + 3 * 4 * 5 * 6);
}

TEST_CASE("Several slices that lie side by side are one descriptor") {
    WindowGeometry g;
    g.batch = 2, g.in_h = 4, g.in_w = 6, g.pixel_bytes = 2;
    g.kernel_h = g.kernel_w = 1, g.out_h = 4, g.out_w = 6;
    g.depth = {5, 3, 1, 1, 1};
    g.out_d = 5;
    const WindowBlock all = g.block_shape(1000);
    CHECK((all.images == 5 && all.rows == 4 && all.cols == 6));
    CHECK(g.block_count(all) == 2);
    const WindowBlock second = g.cut(all)[1];
    CHECK(second.image == 5);
    const StagedWindow staged = g.staged(second);
    CHECK(staged.slices == 7);
    CHECK(staged.bytes == 7 * 4 * 6 * 2);
    const auto copies = g.copies(second, staged);
    REQUIRE(copies.size() == 1);
    CHECK(copies[0].from.offset == 5 * 4 * 6 * 2);
    CHECK(copies[0].from.rows == 5 * 4);
    CHECK(copies[0].to == 4 * 6 * 2);
}

TEST_CASE("Depth padding that reaches beyond the chip is refused with its reason") {
    Conv2d op = conv_of(4, 16, 3, 3, 1, 1, 100'000, 1);
    CHECK_THAT(test::message_of(graph_of(op, DType::Int8), test::resident_machine(), Protocol::of_run()),
               Catch::Contains("its zero padding of 100000 in depth reaches further"));
}

}  // namespace systole::systolic
