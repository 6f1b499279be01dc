// SPDX-License-Identifier: Apache-2.0
// Windows that go across in other steps than down, over inputs padded by another width on each side, on every
// kind of machine: each product of an element with a weight once, and the outputs that a loop over all of
// them finds.
#include <catch2/catch.hpp>

#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/random_layers.h"

namespace systole::systolic {
namespace {

using test::check;
using test::machines;

Conv2d random_conv(test::Dice& dice) {
    Conv2d op;
    op.batch = dice.pick(1, 2), op.in_h = dice.pick(3, 7), op.in_w = dice.pick(3, 7);
    op.in_c = dice.pick(1, 4), op.out_c = dice.pick(1, 5);
    op.kernel_h = dice.pick(1, 3), op.kernel_w = dice.pick(1, 3);
    op.stride = dice.pick(1, 3), op.pad = dice.pick(0, 2);
    op.uneven = {dice.pick(1, 3), op.kernel_w < 3 ? dice.pick(1, 2) : 1, dice.pick(0, 2), dice.pick(0, 2),
                 dice.pick(0, 2)};
    return op;
}

/// Windows of `kernel` that begin inside the padded input and end there, one by one.
std::int64_t counted(std::int64_t padded, std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
    std::int64_t count = 0;
    for (std::int64_t begin = 0; begin + dilation * (kernel - 1) < padded; begin += stride) ++count;
    return count;
}

TEST_CASE("Uneven windows read what they cover on every machine") {
    const auto seed = GENERATE(range(1, 25));
    INFO("seed " << seed);
    test::Dice dice(static_cast<std::uint64_t>(seed));
    const Conv2d op = random_conv(dice);
    CHECK(op.out_h() == counted(op.in_h + op.pad + *op.uneven.pad_bottom, op.kernel_h, op.stride, 1));
    CHECK(op.out_w() == counted(op.in_w + *op.uneven.pad_left + *op.uneven.pad_right, op.kernel_w,
                                *op.uneven.stride_w, *op.uneven.dilation_w));
    for (const SystolicSpec& spec : machines()) {
        test::GraphOf g;
        const TensorId in = g.input({op.batch, op.in_h, op.in_w, op.in_c}, DType::Int8);
        check(g.finish(g.conv(in, op)), spec);
    }
}

TEST_CASE("Uneven pools and depthwise windows do, too") {
    for (const SystolicSpec& spec : machines()) {
        test::GraphOf g;
        Conv2d op;
        op.in_h = 6, op.in_w = 7, op.in_c = op.out_c = op.groups = 4;
        op.kernel_h = 3, op.kernel_w = 2, op.stride = 2, op.pad = 1;
        op.uneven = {1, {}, 0, 0, 1};
        const TensorId map = g.conv(g.input({1, 6, 7, 4}, DType::Int8), op);
        Pool pool;
        pool.in_h = op.out_h(), pool.in_w = op.out_w(), pool.channels = 4;
        pool.window_h = 2, pool.window_w = 3, pool.stride = 1, pool.pad = 0;
        pool.uneven = {2, {}, 1, 1, 2};
        REQUIRE(pool.out_h() == counted(op.out_h() + 1, 2, 1, 1));
        REQUIRE(pool.out_w() == counted(op.out_w() + 3, 3, 2, 1));
        check(g.finish(g.vector({map}, pool, {1, pool.out_h(), pool.out_w(), 4})), spec);
    }
}

}  // namespace
}  // namespace systole::systolic
