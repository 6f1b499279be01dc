// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/activity.h"

#include <catch2/catch.hpp>

#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/sm/sm.h"
#include "tests/unit/simt/sm_specs.h"

namespace systole::simt {
namespace {

Instruction instruction(Op op, std::int64_t amount = 0, std::int64_t bytes = 0) {
    Instruction one;
    one.op = op;
    one.amount = amount;
    one.bytes = bytes;
    return one;
}

SmSpec sm(TensorIssue issue) {
    SmSpec spec;
    spec.tensor.issue = issue;
    spec.tensor.macs[static_cast<std::size_t>(DType::Bf16)] = 256;
    return spec;
}

WarpActivity of(std::vector<Instruction> body, TensorIssue issue = TensorIssue::Warp, int warps = 1,
                std::int64_t trips = 1) {
    CtaProgram program;
    program.roles = {{warps, {Section{std::move(body), trips, false}}}};
    return activity_of(program, sm(issue), DType::Bf16);
}

}  // namespace

TEST_CASE("plain instructions read three registers a thread and write one") {
    const WarpActivity activity = of({instruction(Op::Fp32), instruction(Op::Integer)});
    CHECK(activity.instructions == 64);
    CHECK(activity.fp32 == 32);
    CHECK(activity.integer == 32);
    CHECK(activity.register_bytes == 2 * 32 * 16);
    CHECK(activity.shared_bytes == 0);
}

TEST_CASE("a fused multiply-add passes four registers a thread, a function of one operand two") {
    CHECK(of({instruction(Op::Fma)}).register_bytes == 32 * 16);
    CHECK(of({instruction(Op::Special)}).register_bytes == 32 * 8);
}

TEST_CASE("warps and trips multiply") {
    const WarpActivity activity = of({instruction(Op::Special)}, TensorIssue::Warp, 4, 10);
    CHECK(activity.special == 4 * 10 * 32);
    CHECK(activity.instructions == 4 * 10 * 32);
}

TEST_CASE("an mma of m16n8k16 in bf16 reads A, B and C and writes D") {
    // 16x16 and 16x8 of 2 B, 16x8 of 4 B twice: 512 + 256 + 1024 B.
    const WarpActivity activity = of({instruction(Op::Mma, 16 * 8 * 16)});
    CHECK(activity.register_bytes == 1792);
    CHECK(activity.fp32 == 0);
}

TEST_CASE("a v_mfma of 32x32x8 in bf16 reads A, B and C and writes D") {
    // 32x8 and 8x32 of 2 B, 32x32 of 4 B twice: 512 + 512 + 8192 B.
    const WarpActivity activity = of({instruction(Op::Mma, 32 * 32 * 8)}, TensorIssue::Wave);
    CHECK(activity.register_bytes == 9216);
    CHECK(activity.shared_bytes == 0);
}

TEST_CASE(
    "what tensor memory holds is read there and written to registers, and copied into it from shared "
    "memory") {
    const WarpActivity load = of({instruction(Op::TensorLoad, 0, 512)});
    CHECK(load.register_bytes == 1024);
    CHECK(load.shared_bytes == 0);
    const WarpActivity copy = of({instruction(Op::TensorCopy, 0, 512)});
    CHECK(copy.register_bytes == 512);
    CHECK(copy.shared_bytes == 512);
}

TEST_CASE(
    "a warp's quarter of a wgmma reads and writes its sums once for 16 of K, operands from shared memory") {
    // m64n256k16: 64 KiB of sums, of which a warp has a quarter.
    const WarpActivity activity =
        of({instruction(Op::GroupMma, 64 * 256 * 16 / 4, 2560)}, TensorIssue::WarpGroup);
    CHECK(activity.register_bytes == 2 * 64 * 256 * 4 / 4);
    CHECK(activity.shared_bytes == 2560);
}

TEST_CASE("loads and stores of shared memory pass registers, copies into it do not") {
    const WarpActivity activity =
        of({instruction(Op::SharedLoad, 0, 512), instruction(Op::SharedStore, 0, 256),
            instruction(Op::AsyncCopy, 0, 512)});
    CHECK(activity.register_bytes == 768);
    CHECK(activity.shared_bytes == 768);
    CHECK(activity.instructions == 96);
}

TEST_CASE("as many instructions are counted in a program as an SM issues of it") {
    CtaTile tile;
    tile.groups_m = tile.groups_n = 2;
    for (const std::int64_t steps : {4, 5, 17}) {
        INFO(steps << " steps");
        const SmSpec spec = test::warp_mma_sm();
        const CtaProgram program = gemm_program(tile, {}, steps, spec);
        Sm alone(spec, 256, [](Op, std::int64_t, std::int64_t at) { return at; });
        alone.launch(program, 0);
        alone.run();
        CHECK(activity_of(program, spec, DType::Bf16).instructions ==
              static_cast<double>(alone.instructions() * spec.warp_threads));
    }
}

TEST_CASE("what threads load by their addresses is counted thread by thread") {
    Instruction load = instruction(Op::GlobalLoad);
    load.addresses = ThreadAddresses{0, 8, 8, 0, 0, 0};
    CHECK(of({load}).register_bytes == 32 * 8);
}

}  // namespace systole::simt
