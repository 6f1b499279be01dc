// SPDX-License-Identifier: Apache-2.0
// The SM by microbenchmarks: programs so small that their cycles can be counted by hand.
#include "models/devices/simt/sm/sm.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>

#include "tests/unit/simt/sm_programs.h"
#include "tests/unit/simt/sm_specs.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::after;
using systole::simt::test::cycles_of;
using systole::simt::test::group_mma_sm;
using systole::simt::test::program_of;
using systole::simt::test::warp_mma_sm;

namespace {

constexpr std::int64_t kMac = 2048;  // of an mma.m16n8k16: 8 cycles of an A100's tensor core

/// A use of what group 0 of registers holds, which ends the program a cycle after it is there.
const Instruction kUse{.op = Op::Integer, .reads = 1};

}  // namespace

TEST_CASE("A load from shared memory is in its register after the latency of shared memory") {
    CHECK(cycles_of(program_of(1, {{.op = Op::SharedLoad, .writes = 1, .bytes = 128}, kUse})) == 29 + 1);
    // Four times the bytes: three more cycles of all banks.
    CHECK(cycles_of(program_of(1, {{.op = Op::SharedLoad, .writes = 1, .bytes = 512}, kUse})) == 29 + 3 + 1);
}

TEST_CASE("A result is there after the pipe's latency, or as many cycles as the instruction says") {
    CHECK(cycles_of(program_of(1, {{.op = Op::Integer, .writes = 1}, kUse})) == 4 + 1);
    CHECK(cycles_of(program_of(1, {{.op = Op::Integer, .writes = 1, .amount = 13}, kUse})) == 13 + 1);
    CHECK(cycles_of(program_of(1, {{.op = Op::Fp32, .writes = 1, .amount = 2}, kUse})) == 2 + 1);
}

TEST_CASE("A dependent load waits for the one before, an independent one does not") {
    const Instruction chase{.op = Op::SharedLoad, .reads = 1, .writes = 1, .bytes = 128};
    CHECK(cycles_of(program_of(1, {chase, chase, chase, chase, kUse})) == 4 * 29 + 1);
    const Instruction other{.op = Op::SharedLoad, .writes = 2, .bytes = 128};
    CHECK(cycles_of(program_of(1, {{.op = Op::SharedLoad, .writes = 1, .bytes = 128}, other, kUse})) == 30);
}

TEST_CASE("Shared memory gives all its banks a cycle, however many warps ask") {
    // 8 warps x 64 loads of 512 bytes at 128 bytes a cycle.
    const auto loads = [](int warps, std::int64_t trips) {
        return cycles_of(program_of(warps, {{.op = Op::SharedLoad, .bytes = 512}}, trips));
    };
    CHECK(loads(8, 256) - loads(8, 64) == 8 * 192 * 4);
}

TEST_CASE("A sub-core finds addresses for a memory instruction every few cycles, each for itself") {
    SmSpec sm = warp_mma_sm();
    const Instruction load{.op = Op::SharedLoad, .bytes = 128};
    const Instruction last{.op = Op::SharedLoad, .writes = 1, .bytes = 128};
    const auto trips = [&](int warps) {
        return cycles_of(program_of(warps, {load}, 256), sm) - cycles_of(program_of(warps, {load}, 64), sm);
    };
    CHECK(cycles_of(program_of(1, {load, load, load, last, kUse}), sm) == 3 + 29 + 1);
    CHECK(trips(1) == 192);
    sm.lsu_interval_of_sub_core = Cycles(4);
    CHECK(cycles_of(program_of(1, {load, load, load, last, kUse}), sm) == 3 * 4 + 29 + 1);
    CHECK(trips(1) == 192 * 4);
    // On all four sub-cores they are as many as shared memory takes; two warps of one find theirs by turns.
    CHECK(trips(4) == 192 * 4);
    CHECK(trips(5) == 192 * 8);
    // Others are not held up.
    CHECK(cycles_of(program_of(1, {load, {.op = Op::Integer, .writes = 1}, kUse}), sm) == 1 + 4 + 1);
}

TEST_CASE("A store keeps the load/store unit until the SM's port has taken it") {
    const Instruction store{.op = Op::GlobalStore, .bytes = 512};
    const Instruction load{.op = Op::SharedLoad, .writes = 1, .bytes = 128};
    // 512 bytes at 16 a cycle: shared memory is asked at cycle 32.
    CHECK(cycles_of(program_of(1, {store, load, kUse})) == 32 + 29 + 1);
    // A store of one sector is out of the way before the load issues.
    const Instruction sector{.op = Op::GlobalStore, .bytes = 32};
    CHECK(cycles_of(program_of(1, {sector, load, kUse})) == 2 + 29 + 1);
    // Of many, each warp's last one issues when no more than 32 cycles of them are left.
    CHECK(cycles_of(program_of(4, {store}, 64)) == (4 * 64 - 1) * 32 - 32 + 1);
    // Bulk stores leave by themselves.
    CHECK(cycles_of(program_of(1, {{.op = Op::BulkStore, .bytes = 4096}, load, kUse}), group_mma_sm()) ==
          32 + 29 + 1);
    CHECK(cycles_of(program_of(1, {{.op = Op::BulkStore, .bytes = 128}, load, kUse}), group_mma_sm()) ==
          1 + 29 + 1);
    // But no further ahead of shared memory than 32 cycles, likewise.
    CHECK(cycles_of(program_of(4, {{.op = Op::BulkStore, .bytes = 4096}}, 64), group_mma_sm()) ==
          (4 * 64 - 1) * 32 - 32 + 1);
}

TEST_CASE("A load from memory is there when memory says so") {
    CHECK(cycles_of(program_of(1, {{.op = Op::GlobalLoad, .writes = 1, .bytes = 128}, kUse}), warp_mma_sm(),
                    400) == 1 + 400 + 1);
}

TEST_CASE("A word of a table is there after its own latency, and is asked of nobody") {
    const Instruction word{.op = Op::TableLoad, .writes = 1, .amount = 260};
    CHECK(cycles_of(program_of(1, {word, kUse}), warp_mma_sm(), 400) == 1 + 260 + 1);
}

TEST_CASE("Each tensor core takes an mma every eight cycles, and its sums take the latency more") {
    const Instruction independent{.op = Op::Mma, .amount = kMac};
    const auto cycles = [&](const Instruction& mma, int warps, std::int64_t trips) {
        SmSpec spec = warp_mma_sm();
        spec.scheduling = WarpScheduling::LooseRoundRobin;
        return cycles_of(program_of(warps, {mma}, trips), spec);
    };
    // One warp on each of four sub-cores, then two.
    CHECK(cycles(independent, 4, 100) - cycles(independent, 4, 50) == 50 * 8);
    CHECK(cycles(independent, 8, 100) - cycles(independent, 8, 50) == 2 * 50 * 8);
    const Instruction chain{.op = Op::Mma, .reads = 1, .writes = 1, .amount = kMac};
    CHECK(cycles(chain, 4, 100) - cycles(chain, 4, 50) == 50 * (8 + 25));
    CHECK(cycles(chain, 16, 100) - cycles(chain, 16, 50) ==
          50 * (8 + 25));  // four chains hide each other: 32 < 33
    CHECK(cycles(chain, 32, 100) - cycles(chain, 32, 50) == 8 * 50 * 8);  // eight do not fit any more
}

TEST_CASE("A wgmma takes as long as its products or its operands out of shared memory, whichever is longer") {
    const auto cycles = [](std::int64_t n, std::int64_t trips) {
        CtaProgram program =
            program_of(4, {{.op = Op::GroupMma, .amount = 16 * n * 16, .bytes = (16 + n / 4) * 32}}, trips);
        Sm sm(group_mma_sm(), 512, after(0));
        sm.launch(program, 0);
        sm.run();
        return sm.trace(0).last_mma_end;
    };
    CHECK(cycles(256, 20) - cycles(256, 10) == 10 * 128);  // m64n256k16: 262,144 MACs at 2,048 a cycle
    CHECK(cycles(64, 20) - cycles(64, 10) == 10 * 32);     // 4 KiB at 128 bytes a cycle: 32, too
    CHECK(cycles(8, 20) - cycles(8, 10) == 10 * 18);       // 2,304 bytes; 4 cycles of products
}

TEST_CASE("Two groups of warps multiply by turns, each with one product that waits") {
    CtaProgram program = program_of(4, {{.op = Op::GroupMma, .amount = 16 * 256 * 16}}, 4);
    Sm sm(group_mma_sm(), 512, after(0));
    sm.launch(program, 0);
    sm.launch(program, 0);
    sm.run();
    // Of 128 cycles each: two of the first group before any of the second, then one of each.
    CHECK(sm.trace(0).last_mma_end == 6 * 128);
    CHECK(sm.trace(1).last_mma_end == 8 * 128);
}

TEST_CASE("Warps wait for groups of products and of copies, but only for as many as they name") {
    const Instruction mma{.op = Op::GroupMma, .amount = 16 * 256 * 16, .bytes = 0};
    const auto cycles = [&](std::int64_t left) {
        CtaProgram program = program_of(
            4,
            {mma, {.op = Op::CommitMmas}, mma, {.op = Op::CommitMmas}, {.op = Op::WaitMmas, .amount = left}});
        Sm sm(group_mma_sm(), 512, after(0));
        sm.launch(program, 0);
        sm.run();
        return sm.trace(0).end;
    };
    CHECK(cycles(1) == 128 + 25 + 1);
    CHECK(cycles(0) == 256 + 25 + 1);
    CHECK(cycles(2) == 5);
    const Instruction copy{.op = Op::AsyncCopy, .bytes = 512};
    const auto copies = [&](std::int64_t left) {
        return cycles_of(program_of(1, {copy,
                                        {.op = Op::CommitCopies},
                                        copy,
                                        {.op = Op::CommitCopies},
                                        {.op = Op::WaitCopies, .amount = left}}),
                         warp_mma_sm(), 1000);
    };
    CHECK(copies(1) == 4 + 1000 + 1);  // 512 bytes leave at 128 a cycle
    CHECK(copies(0) == 8 + 1000 + 1);
}

TEST_CASE("A barrier lets all go on after the last has arrived") {
    CtaProgram program = program_of(3, {{.op = Op::Arrive}, {.op = Op::Await}});
    program.barriers = {{3, false}};
    CHECK(cycles_of(program) == 20 + 1);
    // One comes later: the others wait for it.
    program.barriers = {{4, false}};
    program.roles.push_back({1,
                             {{{{.op = Op::SharedLoad, .writes = 1, .bytes = 128},
                                {.op = Op::Arrive, .reads = 1},
                                {.op = Op::Await}},
                               1,
                               false}}});
    CHECK(cycles_of(program) == 29 + 20 + 1);
}

TEST_CASE("A ring of barriers keeps a producer as far ahead as it has stages") {
    // The consumer takes 100 cycles a step; copies take 10. With s stages the producer's step i leaves when
    // the consumer has given step i - s back.
    constexpr int kStages = 3;
    constexpr std::int64_t kSteps = 9;
    const auto leaves = [] {
        CtaProgram program;
        for (int i = 0; i < kStages; ++i) program.barriers.push_back({1, false});
        for (int i = 0; i < kStages; ++i) program.barriers.push_back({1, true});
        const Section consume{{{.op = Op::Await, .ring = kStages},
                               {.op = Op::Mma, .reads = 1, .writes = 1, .amount = 100 * 256},
                               {.op = Op::Integer, .reads = 1},
                               {.op = Op::Arrive, .barrier = kStages, .ring = kStages}},
                              kSteps,
                              true};
        const Section produce{{{.op = Op::Await, .barrier = kStages, .ring = kStages},
                               {.op = Op::BulkCopy, .amount = 1, .bytes = 512, .ring = kStages}},
                              kSteps,
                              true};
        program.roles = {{1, {consume}}, {1, {produce}}};
        Sm sm(warp_mma_sm(), 256, after(10));
        sm.launch(program, 0);
        sm.run();
        return sm.trace(0).requests;
    }();
    REQUIRE(leaves.size() == kSteps);
    CHECK(leaves[kStages - 1] < 10);
    for (std::size_t i = kStages + 1; i < kSteps; ++i) {
        INFO("step " << i);
        // 100 of products, 25 of latency, and what the consumer issues until it gives the stage back.
        CHECK(leaves[i] - leaves[i - 1] >= 125);
        CHECK(leaves[i] - leaves[i - 1] <= 130);
    }
}

TEST_CASE("The greedy scheduler stays with a warp, the loose one goes round") {
    // Warps of one sub-core with independent work: greedy lets the older one run through.
    const auto ends = [](WarpScheduling scheduling, int warps) {
        SmSpec spec = warp_mma_sm();
        spec.scheduling = scheduling;
        spec.sub_cores = 1;
        spec.integer = {Cycles(1), Cycles(4)};
        const CtaProgram program = program_of(1, {{.op = Op::Integer}}, 50);
        Sm sm(spec, 256, after(0));
        for (int warp = 0; warp < warps; ++warp) sm.launch(program, 0);
        sm.run();
        std::vector<std::int64_t> all;
        for (int warp = 0; warp < warps; ++warp) all.push_back(sm.trace(static_cast<std::size_t>(warp)).end);
        return all;
    };
    CHECK(ends(WarpScheduling::GreedyThenOldest, 2) == std::vector<std::int64_t>{50, 100});
    CHECK(ends(WarpScheduling::GreedyThenOldest, 3) == std::vector<std::int64_t>{50, 100, 150});
    CHECK(ends(WarpScheduling::LooseRoundRobin, 2) == std::vector<std::int64_t>{99, 100});
    CHECK(ends(WarpScheduling::LooseRoundRobin, 3) == std::vector<std::int64_t>{148, 149, 150});
}

TEST_CASE("Every cycle of the tensor cores has one owner in any window") {
    const unsigned seed = GENERATE(range(1U, 21U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    std::vector<Instruction> body;
    std::int64_t macs = 0;
    for (int i = 0; i < 30; ++i) {
        const RegisterGroups reads = RegisterGroups{1} << pick(0, 7),
                             writes = RegisterGroups{1} << pick(0, 7);
        switch (pick(0, 4)) {
            case 0:
                body.push_back(
                    {.op = Op::Mma, .reads = reads, .writes = writes, .amount = 256 * pick(1, 16)});
                macs += body.back().amount;
                break;
            case 1:
                body.push_back(
                    {.op = Op::SharedLoad, .reads = reads, .writes = writes, .bytes = 128 * pick(1, 4)});
                break;
            case 2:
                body.push_back({.op = Op::GlobalLoad, .writes = writes, .bytes = 512});
                break;
            case 3:
                body.push_back({.op = Op::Fp32, .reads = reads, .writes = writes});
                break;
            default:
                body.push_back({.op = Op::Arrive});
                body.push_back({.op = Op::Await});
        }
    }
    const int warps = pick(1, 12);
    const std::int64_t trips = pick(1, 5);
    CtaProgram program = program_of(warps, body, trips);
    program.barriers = {{warps, false}};
    const SmSpec spec = warp_mma_sm();
    Sm sm(spec, 256, after(pick(0, 500)));
    const int ctas = pick(1, 3);
    for (int i = 0; i < ctas; ++i) sm.launch(program, 10 * i);
    sm.run();
    std::int64_t end = 0;
    for (int i = 0; i < ctas; ++i) {
        const Sm::CtaTrace& trace = sm.trace(static_cast<std::size_t>(i));
        end = std::max({end, trace.end, trace.last_mma_end});
    }
    // All products were done, at the cores' rate.
    CHECK(sm.busy(0, end) == ctas * warps * trips * macs / 256);
    CHECK(sm.instructions() == ctas * warps * trips * static_cast<std::int64_t>(body.size()));
    const std::int64_t from = pick(0, static_cast<int>(end)),
                       until = pick(static_cast<int>(from), static_cast<int>(end));
    const LostTime lost = sm.lost(from, until);
    CHECK(sm.busy(from, until) + std::accumulate(lost.begin(), lost.end(), std::int64_t{0}) ==
          spec.sub_cores * (until - from));
}

TEST_CASE("What a tensor core waits for is named by what its warp waited for") {
    const auto lost = [](const std::vector<Instruction>& body, Loss loss) {
        Sm sm(warp_mma_sm(), 256, after(300));
        const CtaProgram program = program_of(1, body);
        sm.launch(program, 0);
        sm.run();
        // The other three sub-cores have no warp: theirs is not looked at.
        return sm.lost(0, sm.trace(0).first_mma)[static_cast<std::size_t>(loss)] -
               (loss == Loss::Dependency ? 3 * sm.trace(0).first_mma : 0);
    };
    const Instruction mma{.op = Op::Mma, .reads = 1, .amount = kMac};
    CHECK(lost({{.op = Op::GlobalLoad, .writes = 1, .bytes = 128}, mma}, Loss::Memory) == 300);
    CHECK(lost({{.op = Op::SharedLoad, .writes = 1, .bytes = 128}, mma}, Loss::OnChip) == 29);
    CHECK(lost({{.op = Op::Fp32, .writes = 1}, mma}, Loss::Dependency) == 3);
    CHECK(lost({{.op = Op::Fp32, .writes = 1}, mma}, Loss::Vector) == 1);
}

TEST_CASE("A CTA that follows another on its places goes as on an SM of its own") {
    const CtaProgram program = program_of(6, {{.op = Op::Mma, .reads = 1, .writes = 1, .amount = kMac}}, 20);
    Sm sm(warp_mma_sm(), 256, after(0));
    sm.launch(program, 0);
    sm.launch(program, 0);
    sm.advance(Sm::kNever);
    const std::int64_t two = sm.trace(1).end;
    for (int i = 0; i < 2; ++i) sm.launch(program, two + 100);
    sm.advance(Sm::kNever);
    CHECK(sm.trace(2).end == two + 100 + sm.trace(0).end);
    CHECK(sm.trace(3).end == two + 100 + two);
}
