// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/stream_program.h"

#include <catch2/catch.hpp>

#include "tests/unit/simt/instruction_counts.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::count_of;

namespace {

/// A CTA of 1,024 results, four of each thread: two parts in fp32, stored as bf16.
StreamPlan two_parts() {
    StreamPlan plan;
    plan.elements = 1024;
    plan.from.bytes = Bytes(2 * 4 * 1024);
    plan.to.bytes = Bytes(2 * 1024);
    return plan;
}

}  // namespace

TEST_CASE("Each warp loads and adds its rows of all parts, and stores once") {
    const CtaProgram program = stream_program(two_parts());
    REQUIRE(program.warps() == 8);
    CHECK(count_of(program, Op::GlobalLoad) == 2);
    CHECK(count_of(program, Op::Fp32) == 2 * 4);
    CHECK(count_of(program, Op::Special) == 0);
    CHECK(count_of(program, Op::GlobalStore) == 1);
}

TEST_CASE("What the epilogue reads is loaded, too, and its functions are computed") {
    StreamPlan plan = two_parts();
    plan.other.bytes = Bytes(2 * 1024);
    plan.columns = {{"bias", {0, Operand::Weights, Bytes(4 * 64), Bytes(0)}, 4}};  // met 16 times over
    plan.finish = {true, Function::Gelu, Elementwise::Kind::Add, Function::None};
    const CtaProgram program = stream_program(plan);
    CHECK(count_of(program, Op::GlobalLoad) == 2 + 1 + 1);
    // Four values of each: additions of what is loaded, then gelu (5 and a tanh) and the sum.
    CHECK(count_of(program, Op::Fp32) == 4 * 4 + 4 * 6);
    CHECK(count_of(program, Op::Special) == 4);
}

TEST_CASE("More parts than buffers are added as buffers are needed") {
    StreamPlan plan = two_parts();
    plan.from.bytes = Bytes(40 * 4 * 1024);
    const CtaProgram program = stream_program(plan);
    CHECK(count_of(program, Op::GlobalLoad) == 40);
    CHECK(count_of(program, Op::Fp32) == 40 * 4);
}
