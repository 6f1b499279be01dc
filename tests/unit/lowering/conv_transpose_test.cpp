// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions on every kind of machine: each product of an input with a tap once, at the right
// pixel.
#include <catch2/catch.hpp>

#include "sim/workload/trace.h"
#include "tests/support/seeds.h"
#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/random_layers.h"

namespace systole::systolic {
namespace {

using test::check;

ConvTranspose conv_of(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                      std::int64_t out_pad = 0) {
    ConvTranspose op;
    op.in_h = in, op.in_w = in + 1;
    op.in_c = 3, op.out_c = 5;
    op.kernel_h = op.kernel_w = kernel;
    op.stride = stride, op.pad = pad, op.out_pad = out_pad;
    return op;
}

Graph graph_of(const ConvTranspose& op, DType dtype) {
    const auto text = [](std::int64_t value) { return std::to_string(value); };
    return single_operator("conv_transpose",
                           {{"n", text(op.batch)},
                            {"h", text(op.in_h)},
                            {"w", text(op.in_w)},
                            {"c", text(op.in_c)},
                            {"k", text(op.out_c)},
                            {"r", text(op.kernel_h)},
                            {"s", text(op.kernel_w)},
                            {"stride", text(op.stride)},
                            {"pad", text(op.pad)},
                            {"out_pad", text(op.out_pad)},
                            {"dtype", std::string(to_string(dtype))}},
                           {});
}

bool refused(const SystolicSpec& spec) {
    return spec.mxu.dataflow == Dataflow::InputStationary && spec.placement.activations == Space::Scratchpad;
}

}  // namespace

TEST_CASE("Transposed convolutions of any kernel and stride meet the right pixels on every machine") {
    for (const SystolicSpec& spec : test::machines()) {
        if (refused(spec)) continue;
        for (ConvTranspose op :
             {conv_of(4, 2, 2, 0), conv_of(4, 4, 2, 1), conv_of(4, 3, 2, 1, 1), conv_of(3, 3, 2, 0),
              conv_of(5, 3, 1, 1), conv_of(2, 5, 3, 2, 1), conv_of(3, 5, 2, 4), conv_of(1, 3, 3, 0)}) {
            for (const std::int64_t batch : {1, 3}) {
                op.batch = batch;
                check(graph_of(op, DType::Int8), spec);
            }
        }
        check(graph_of(conv_of(4, 4, 2, 1), DType::Bf16), spec);
    }
}

TEST_CASE("Random transposed convolutions on random machines keep every promise") {
    for (std::uint64_t seed = 1; seed <= systole::test::enough(150); ++seed) {
        CAPTURE(seed);
        test::Dice dice(seed);
        const SystolicSpec spec = test::random_machine(dice);
        ConvTranspose op;
        op.batch = dice.pick(1, 2);
        op.in_h = dice.pick(1, 5), op.in_w = dice.pick(1, 5);
        op.in_c = dice.pick(1, 7), op.out_c = dice.pick(1, 7);
        op.stride = dice.pick(1, 3);
        op.kernel_h = dice.pick(op.stride, 5), op.kernel_w = dice.pick(op.stride, 5);
        op.pad = dice.pick(0, 2), op.out_pad = dice.pick(0, op.stride - 1);
        if (op.out_h() < 1 || op.out_w() < 1 || refused(spec)) continue;
        check(graph_of(op, dice.coin() ? DType::Int8 : DType::Bf16), spec);
    }
}

TEST_CASE("No product is with a zero between inputs") {
    const Graph graph = graph_of(conv_of(8, 4, 2, 1), DType::Int8);
    const Lowered lowered = lower(graph, test::small_machine(1), Protocol::of_op());
    std::int64_t macs = 0;
    for (const MatrixPass& pass : lowered.program.passes) macs += pass.macs().value();
    CHECK(macs == 16 * 18 * (2 * 2) * 3 * 5);  // pixels x taps of a phase x channels
    CHECK(lowered.program.layers[0].mapping.starts_with("4 phases, the first: "));
}

TEST_CASE("An input-stationary array beside a resident output is refused") {
    CHECK_THAT(test::message_of(graph_of(conv_of(4, 4, 2, 1), DType::Int8),
                                test::direct_machine(Dataflow::InputStationary, true), Protocol::of_run()),
               Catch::Contains("layer 'conv_transpose': an input-stationary array drains"));
}

}  // namespace systole::systolic
