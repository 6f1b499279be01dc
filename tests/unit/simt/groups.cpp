// SPDX-License-Identifier: Apache-2.0
// Groups of SMs against cases counted by hand, and against every SM simulated by itself.
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "tests/unit/simt/gemm_at_hand.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::cycles;
using systole::simt::test::IdealRun;
using systole::simt::test::plan_of;
using systole::simt::test::run;
using systole::simt::test::small_gpu;

TEST_CASE("One CTA takes what its phases take one behind the other", "[simt]") {
    const IdealRun one = run(plan_of(128, 128, 256), 1, Ticks(500'000));
    // launch, prologue, data of the first step, fill, four steps, epilogue, answer to the stores
    CHECK(one.end == Ticks((10 + 100 + 500 + 50 + 4 * 1024 + 200 + 500) * 1000));
    CHECK(cycles(one.account, SlotClass::Launch) == 10);
    CHECK(cycles(one.account, SlotClass::Ramp) == 100 + 50 + 200);
    CHECK(cycles(one.account, SlotClass::Memory) == 500 + 500);
    CHECK(cycles(one.account, SlotClass::Useful) == 4 * 1024);
    CHECK(one.account.macs == 128 * 128 * 256);
}

TEST_CASE("Bulk stores leave while the epilogue goes on, as early as the port needs for them", "[simt]") {
    GemmPlan plan = plan_of(128, 128, 256);
    SimtSpec gpu = small_gpu(1);
    gpu.sm.tensor.issue = TensorIssue::WarpGroup;
    gpu.l2.sm_write_per_cycle = Bytes(256);  // 32,768 bytes pass in 128 cycles
    const GemmBlocks work(plan);
    const auto end = [&] {
        return IdealRun(work, times_of(plan, gpu, gpu.core_clock), 1, Ticks(500'000), 1000).end;
    };
    plan.timing.stores = Cycles(150);
    CHECK(end() == Ticks((10 + 100 + 500 + 50 + 4 * 1024 + 200 - 128 + 500) * 1000));
    plan.timing.stores = Cycles(60);  // the first one leaves
    CHECK(end() == Ticks((10 + 100 + 500 + 50 + 4 * 1024 + 200 - 60 + 500) * 1000));
}

TEST_CASE("An epilogue that reads waits for its data, if they were not asked for in time", "[simt]") {
    GemmPlan plan = plan_of(128, 128, 256);
    plan.kernel.shape.epilogue = {false, Function::None, Elementwise::Kind::Add, Function::None};
    // Four steps; the last three requests leave at the ends of steps 0, 1 and 2: nobody waits.
    const std::int64_t steps = 10 + 100 + 500 + 50 + 4 * 1024;
    CHECK(run(plan, 1, Ticks(500'000), 1000).end == Ticks((steps + 200 + 500) * 1000));
    // With data 4,000 cycles away, step 3 is asked for at the end of step 0, and begins when its data are
    // there. Those of the epilogue, asked for at the end of step 1, are there as it ends, 1,024 cycles later.
    const std::int64_t first = 10 + 100 + 4000 + 50, last = first + 1024 + 4000 + 1024;
    CHECK(run(plan, 1, Ticks(4'000'000)).end == Ticks((last + 200 + 4000) * 1000));
    // A bias besides is asked for when the last step is done, and what is joined is there before it.
    plan.kernel.shape.epilogue.bias = true;
    const IdealRun both = run(plan, 1, Ticks(500'000));
    CHECK(both.end == Ticks((steps + 500 + 200 + 500) * 1000));
    CHECK(cycles(both.account, SlotClass::Memory) == 3 * 500);
    CHECK(run(plan, 1, Ticks(4'000'000)).end == Ticks((last + 4000 + 200 + 4000) * 1000));
    // Warps that copy themselves ask when the last step is done.
    plan.timing.meet = 512;
    const IdealRun at_end = run(plan, 1, Ticks(500'000));
    CHECK(at_end.end == Ticks((10 + 100 + 500 + 50 + 4 * 1024 + 500 + 200 + 500) * 1000));
    CHECK(cycles(at_end.account, SlotClass::Memory) == 3 * 500);
    CHECK(cycles(at_end.account, SlotClass::Ramp) == 100 + 50 + 200);
}

TEST_CASE("Steps wait for data that come later than tensor cores need them", "[simt]") {
    GemmPlan plan = plan_of(128, 128, 64 * 6);
    plan.timing.ahead = 1;
    const IdealRun one = run(plan, 1, Ticks(3'000'000));
    // Each step's request leaves at the end of the one before.
    CHECK(one.end == Ticks((10 + 100 + 50 + 6 * (3000 + 1024) + 200 + 3000) * 1000));
    CHECK(cycles(one.account, SlotClass::Memory) == 7 * 3000);
}

TEST_CASE("The first steps' data are asked for one behind the other", "[simt]") {
    GemmPlan plan = plan_of(128, 128, 64 * 3);
    plan.timing.request = Cycles(2000);
    const IdealRun one = run(plan, 1, Ticks(500'000));
    // Those of the third are there long after the second has ended.
    CHECK(one.end == Ticks((10 + 100 + 2 * 2000 + 500 + 1024 + 200 + 500) * 1000));
}

TEST_CASE("Warps that copy while they multiply ask within a step, and look for data before the next one",
          "[simt]") {
    GemmPlan plan = plan_of(128, 128, 64 * 6);
    plan.timing.ahead = 1;
    plan.timing.meet = 768;
    SimtSpec gpu = small_gpu(1);
    gpu.l2.sm_read_per_cycle = Bytes(64);  // 32 KiB of a step pass in 512 cycles
    gpu.l2.bytes_per_cycle = Bytes(1024);
    const GemmBlocks work(plan);
    const CtaTimes times = times_of(plan, gpu, gpu.core_clock);
    const IdealRun one(work, times, 1, Ticks(3'000'000), 1000);
    // The next step's data are asked for 256 cycles into a step, and must be there 256 before it may begin.
    CHECK(one.end == Ticks((10 + 100 + 50 + 3000 + 5 * (256 + 3000 + 256) + 1024 + 200 + 3000) * 1000));
    CHECK(cycles(one.account, SlotClass::Useful) == 6 * 1024);
    // Where the ports are busy for longer than copies are issued, these leave with the step.
    gpu.l2.sm_read_per_cycle = Bytes(32);
    const IdealRun slow(work, times_of(plan, gpu, gpu.core_clock), 1, Ticks(3'000'000), 1000);
    CHECK(slow.end == one.end - Ticks(5 * 256 * 1000));
}

TEST_CASE("SMs without a CTA are tail, and so are those that are through first", "[simt]") {
    const IdealRun five = run(plan_of(128, 128 * 5, 64), 4, Ticks(500'000));
    const std::int64_t cta = 10 + 100 + 500 + 50 + 1024 + 200;
    CHECK(five.end == Ticks(2 * (cta + 500) * 1000));
    CHECK(five.account.sms == 4);
    CHECK(five.account.groups == 2);
    CHECK(cycles(five.account, SlotClass::Tail) == 3 * (cta + 500));
    CHECK(cycles(five.account, SlotClass::Useful) == 5 * 1024);
    const IdealRun two = run(plan_of(128, 256, 64), 4, Ticks(500'000));
    CHECK(two.account.sms == 2);
    CHECK(cycles(two.account, SlotClass::Tail) == 2 * (cta + 500));
}

TEST_CASE("A persistent CTA asks for the next tile's data while it works on the one before", "[simt]") {
    SimtSpec gpu = small_gpu(1);
    gpu.sm.tensor.issue = TensorIssue::WarpGroup;
    const auto of_tiles = [&](std::int64_t tiles, std::int64_t k, std::int64_t latency) {
        GemmPlan plan = plan_of(128, 128 * tiles, k);
        plan.kernel.tile.persistent = true;
        const GemmBlocks work(plan);
        return IdealRun(work, times_of(plan, gpu, gpu.core_clock), 1, Ticks(latency * 1000), 1000);
    };
    // Data of the second tile's steps are asked for at the ends of steps 1, 2 and 3: they are there when the
    // first tile's stores are answered, and the second has neither launch, nor prologue, nor wait.
    const std::int64_t first = 10 + 100 + 500 + 50 + 4 * 1024 + 200 + 500, second = 50 + 4 * 1024 + 200 + 500;
    const IdealRun two = of_tiles(2, 256, 500);
    CHECK(two.end == Ticks((first + second) * 1000));
    CHECK(cycles(two.account, SlotClass::Launch) == 10);
    CHECK(cycles(two.account, SlotClass::Ramp) == 100 + 2 * (50 + 200));
    CHECK(cycles(two.account, SlotClass::Memory) == 500 + 2 * 500);
    CHECK(cycles(two.account, SlotClass::Useful) == 2 * 4 * 1024);
    CHECK(two.account.ctas == 2);
    CHECK(two.account.macs == 2 * 128 * 128 * 256);
    // Tiles of one step leave stages free: the second's is asked for 20 cycles behind the first's.
    CHECK(of_tiles(3, 64, 500).end == Ticks((first - 3 * 1024 + 2 * (second - 3 * 1024)) * 1000));
    // Data that come later than the stores' answers are waited for: asked for at 110 + 20.
    CHECK(of_tiles(2, 64, 4000).end ==
          Ticks((10 + 100 + 4000 + 50 + 1024 + 200 + 4000 + 50 + 1024 + 200 + 4000) * 1000));
}

TEST_CASE("Where sums have places of their own, the next tile's steps begin behind this one's", "[simt]") {
    SimtSpec gpu = small_gpu(1);
    gpu.sm.tensor.issue = TensorIssue::Thread;
    const auto of_tiles = [&](std::int64_t tiles, std::int64_t k, std::int64_t epilogue, int accumulators = 2,
                              std::int64_t latency = 500) {
        GemmPlan plan = plan_of(128, 128 * tiles, k);
        plan.kernel.tile.persistent = true;
        plan.timing.accumulators = accumulators;
        plan.timing.fill = Cycles(0);
        plan.timing.epilogue = Cycles(epilogue);
        const GemmBlocks work(plan);
        return IdealRun(work, times_of(plan, gpu, gpu.core_clock), 1, Ticks(latency * 1000), 1000);
    };
    const std::int64_t start = 10 + 100 + 500;
    const IdealRun three = of_tiles(3, 256, 200);
    CHECK(three.end == Ticks((start + 3 * 4 * 1024 + 200 + 500) * 1000));
    CHECK(cycles(three.account, SlotClass::Useful) == 3 * 4 * 1024);
    CHECK(cycles(three.account, SlotClass::Ramp) == 100 + 200);
    CHECK(cycles(three.account, SlotClass::Memory) == 500 + 500);
    // Epilogues longer than steps follow each other: tiles wait for a place.
    CHECK(of_tiles(5, 256, 6000).end == Ticks((start + 4 * 1024 + 5 * 6000 + 500) * 1000));
    // One place: as if the epilogue were the CTA's own, but for the answers to its stores.
    CHECK(of_tiles(3, 256, 200, 1).end == Ticks((start + 3 * (4 * 1024 + 200) + 500) * 1000));
    // Three steps have all three stages: the second tile's first data are asked for at the end of step 0.
    CHECK(of_tiles(2, 192, 200, 2, 4000).end ==
          Ticks((10 + 100 + 4000 + 1024 + 4000 + 3 * 1024 + 200 + 4000) * 1000));
}

TEST_CASE("Groups that overlap epilogues do exactly what SMs by themselves do", "[simt]") {
    std::mt19937 random(11);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (int i = 0; i < 100; ++i) {
        GemmPlan plan = plan_of(pick(1, 1500), pick(1, 1500), pick(1, 900));
        plan.kernel.split_k = pick(1, 3);
        while ((plan.kernel.split_k - 1) * plan.kernel.steps_of_part() >= plan.kernel.steps())
            --plan.kernel.split_k;
        plan.kernel.tile.persistent = true;
        plan.kernel.tile.cluster_m = static_cast<int>(pick(1, 2));
        plan.timing.accumulators = static_cast<int>(pick(1, 2));
        plan.timing.resident = static_cast<int>(pick(1, 2));
        plan.timing.interval_full = plan.timing.resident * 1024.0;
        plan.timing.ahead = static_cast<int>(pick(1, 4));
        plan.timing.fill = Cycles(pick(0, 100));
        plan.timing.epilogue = Cycles(pick(0, 8000));
        plan.kernel.shape.epilogue.bias = pick(0, 1) == 0;
        if (pick(0, 1) == 0) plan.kernel.shape.epilogue.join = Elementwise::Kind::Add;
        SimtSpec gpu = small_gpu(static_cast<int>(2 * pick(1, 6)));
        gpu.sm.tensor.issue = TensorIssue::Thread;
        const Ticks latency(pick(0, 3'000'000));
        const GemmBlocks work(plan);
        const auto of_groups = [&](std::int64_t largest) {
            return IdealRun(work, times_of(plan, gpu, gpu.core_clock), gpu.sm.count, latency, largest);
        };
        INFO("case " << i);
        const IdealRun together = of_groups(1000), apart = of_groups(1);
        CHECK(together.end == apart.end);
        CHECK(together.account.macs == plan.kernel.shape.m * plan.kernel.shape.n * plan.kernel.shape.k);
        CHECK(together.written == apart.written);
        CHECK((together.account.times == apart.account.times));
        const Int128 sum =
            std::accumulate(together.account.times.begin(), together.account.times.end(), Int128{0});
        CHECK((sum == Int128{together.end.value()} * gpu.sm.count << kFineBits));
    }
}

TEST_CASE("Clusters lie in one GPC each: SMs that are left over in it stand still", "[simt]") {
    // 10 SMs, of which clusters of 2 can use 2 + 4 + 2, clusters of 4 4, and clusters of 3 3 + 3.
    const std::vector<int> gpcs{3, 5, 2};
    const std::int64_t first = 10 + 100 + 500 + 50 + 1024 + 200;
    GemmPlan plan = plan_of(128 * 8, 128, 64);
    CHECK(run(plan, 10, Ticks(500'000), 1000, gpcs).end == Ticks((first + 500) * 1000));
    plan.kernel.tile.cluster_m = 2;
    const std::int64_t cta = first + 200;  // they wait until all have begun
    const IdealRun pairs = run(plan, 10, Ticks(500'000), 1000, gpcs);
    CHECK(pairs.end == Ticks((cta + 500) * 1000));
    CHECK(pairs.account.sms == 8);
    CHECK(pairs.account.waves == 1);
    CHECK(cycles(pairs.account, SlotClass::Tail) == 2 * (cta + 500));
    plan.kernel.tile.cluster_m = 4;
    const IdealRun fours = run(plan, 10, Ticks(500'000), 1000, gpcs);
    CHECK(fours.end == Ticks(2 * (cta + 500) * 1000));
    CHECK(fours.account.waves == 2);
    CHECK(cycles(fours.account, SlotClass::Tail) == 6 * 2 * (cta + 500));
    // Nine CTAs, of which the last has no tile: its SM multiplies nothing for as long as its cluster does.
    plan.kernel.tile.cluster_m = 3;
    const IdealRun threes = run(plan, 10, Ticks(500'000), 1000, gpcs);
    CHECK(threes.end == Ticks(2 * (cta + 500) * 1000));
    CHECK(threes.account.ctas == 9);
    CHECK(threes.account.macs == 128 * 8 * 128 * 64);
    CHECK(cycles(threes.account, SlotClass::Useful) == 9 * 1024);
    CHECK(cycles(threes.account, SlotClass::Tail) == (4 * 2 + 3) * (cta + 500));
}

TEST_CASE("A stage that a cluster shares is asked for when all of its CTAs have given it back", "[simt]") {
    GemmPlan plan = plan_of(256, 128, 64 * 6);
    plan.timing.ahead = 1;
    plan.timing.lost_alone.on_chip = 1;  // what steps would lose, if they took longer than their products
    const std::int64_t ends = 10 + 100 + 50 + 200 + 500;
    CHECK(run(plan, 2, Ticks(500'000)).end == Ticks((ends + 6 * (500 + 1024)) * 1000));
    plan.kernel.tile.cluster_m = 2;
    const IdealRun pair = run(plan, 2, Ticks(500'000));
    CHECK(pair.end == Ticks((200 + ends + 6 * (500 + 1024) + 5 * 200) * 1000));
    CHECK(cycles(pair.account, SlotClass::Dependency) == 2 * 5 * 200);
    CHECK(cycles(pair.account, SlotClass::Memory) == 2 * 7 * 500);
    // With a second stage the signal is on its way while the first one's products are made.
    plan.timing.ahead = 2;
    const IdealRun hidden = run(plan, 2, Ticks(500'000));
    CHECK(cycles(hidden.account, SlotClass::Dependency) == 0);
    CHECK(hidden.end == Ticks((200 + ends + 500 + 20 + 6 * 1024 - 20) * 1000));
}

TEST_CASE("CTAs of an SM hide each other's waits and share its tensor cores", "[simt]") {
    GemmPlan plan = plan_of(128, 256, 64 * 8);
    plan.timing.resident = 2;
    plan.timing.interval_full = 2 * 1024;
    plan.timing.interval_alone = 1500;
    plan.timing.lost_alone.dependency = 476;
    const IdealRun two = run(plan, 1, Ticks(0));
    // From the first step on tensor cores never rest; both CTAs end with it, the second one last.
    CHECK(two.end == Ticks((10 + 100 + 50 + 15 * 1024 + 1500 + 200) * 1000));
    CHECK(cycles(two.account, SlotClass::Useful) == 16 * 1024);
    CHECK(cycles(two.account, SlotClass::Dependency) == 476);
    const IdealRun apart = run(plan, 2, Ticks(0));
    CHECK(apart.end == Ticks((10 + 100 + 50 + 8 * 1500 + 200) * 1000));
    CHECK(cycles(apart.account, SlotClass::Dependency) == 2 * 8 * 476);
}

TEST_CASE("Epilogues of CTAs on an SM share its load/store unit, and steps that meet them share it, too",
          "[simt]") {
    // Three CTAs of one step on an SM that holds two. The first two steps end at 1,484 and 2,508. The third
    // begins 300 cycles after the first one's epilogue, 460 from its first step: 10 + 100 + 300 + 50.
    GemmPlan plan = plan_of(384, 128, 64);
    plan.timing.resident = 2;
    plan.timing.interval_full = 2048;
    plan.timing.epilogue = Cycles(2000);
    const auto end = [&](std::int64_t lsu, std::int64_t step) {
        plan.timing.lsu = Cycles(lsu);
        plan.timing.step_lsu = Cycles(step);
        return run(plan, 1, Ticks(300'000)).end;
    };
    // Nobody is in another's way: the third's step is from 4,244 to 5,268.
    CHECK(end(0, 0) == Ticks((5268 + 2000 + 300) * 1000));
    CHECK(end(500, 0) == Ticks((5268 + 2000 + 300) * 1000));
    // Epilogues that do nothing but keep the unit follow each other: 3,484, 5,484 and 7,484.
    CHECK(end(2000, 0) == Ticks((7484 + 300) * 1000));
    // The third's step, of which the unit has 300 cycles, makes the second epilogue end at 5,784.
    CHECK(end(2000, 300) == Ticks((7784 + 300) * 1000));
    // Half of each other's time is too much by 100 of the unit's 1,024 cycles: the step ends at 5,368. The
    // second epilogue, from 2,508 on, ends at 4,508 and 100 more.
    CHECK(end(1000, 612) == Ticks((5368 + 2000 + 300) * 1000));
    // Without a second CTA on the SM there is nobody to share with.
    plan.timing.resident = 1;
    const Ticks alone = end(0, 0);
    CHECK(end(2000, 300) == alone);
}

TEST_CASE("Fractions of cycles do not drift", "[simt]") {
    GemmPlan plan = plan_of(128, 128, 64 * 30'000);
    plan.timing.interval_alone = plan.timing.interval_full = 1024 + 1.0 / 3;
    const IdealRun one = run(plan, 1, Ticks(0));
    const std::int64_t exact = (10 + 100 + 50 + 30'000 * 1024 + 10'000 + 200) * 1000LL;
    CHECK(one.end.value() >= exact);
    CHECK(one.end.value() <= exact + 1);
}

TEST_CASE("Groups of alike SMs do exactly what SMs by themselves do", "[simt]") {
    std::mt19937 random(7);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (int i = 0; i < 200; ++i) {
        GemmPlan plan = plan_of(pick(1, 1500), pick(1, 1500), pick(1, 900));
        plan.kernel.shape.batch = pick(1, 3);
        plan.kernel.shape.shared_b = pick(0, 1) == 0;
        plan.kernel.split_k = pick(1, 5);
        plan.kernel.raster.panel = pick(1, 4);
        plan.timing.resident = static_cast<int>(pick(1, 3));
        plan.timing.ahead = static_cast<int>(pick(1, 4));
        plan.timing.prologue = Cycles(pick(0, 300));
        plan.timing.request = Cycles(pick(0, 30));
        plan.timing.fill = Cycles(pick(0, 100));
        plan.timing.epilogue = Cycles(pick(0, 400));
        plan.timing.epilogue_vector = 0.25;
        plan.timing.interval_alone = 1024 + static_cast<double>(pick(0, 3000)) / 7;
        plan.timing.interval_full = plan.timing.resident * (1024 + static_cast<double>(pick(0, 1000)) / 3);
        plan.timing.lost_full.on_chip = 1;
        plan.timing.lost_alone.dependency = 2;
        plan.kernel.shape.epilogue.bias = pick(0, 1) == 0;
        if (pick(0, 1) == 0) plan.kernel.shape.epilogue.join = Elementwise::Kind::Add;
        if (pick(0, 2) == 0) plan.timing.meet = static_cast<double>(pick(0, 1024));
        plan.kernel.tile.cluster_m = static_cast<int>(pick(1, 3));
        plan.kernel.tile.cluster_n = static_cast<int>(pick(1, 2));
        const std::int64_t cluster = plan.kernel.tile.cluster();
        std::vector<int> gpcs;
        for (std::int64_t gpc = pick(1, 3); gpc > 0; --gpc)
            gpcs.push_back(static_cast<int>(cluster + pick(0, 6)));
        const int sms = std::accumulate(gpcs.begin(), gpcs.end(), 0);
        const Ticks latency(pick(0, 3'000'000));
        INFO("case " << i);
        const IdealRun together = run(plan, sms, latency, 1000, gpcs),
                       apart = run(plan, sms, latency, 1, gpcs);
        CHECK(together.end == apart.end);
        CHECK(together.account.sms == apart.account.sms);
        CHECK(apart.account.groups >= together.account.groups);
        const GemmShape& shape = plan.kernel.shape;
        CHECK(together.account.macs == shape.batch * shape.m * shape.n * shape.k);
        CHECK(together.written == apart.written);
        CHECK(together.account.last == apart.account.last);
        Int128 sum = 0;
        for (std::size_t c = 0; c < kSlotClasses; ++c) {
            CHECK((together.account.times[c] == apart.account.times[c]));
            CHECK(together.account.times[c] >= 0);
            sum += together.account.times[c];
        }
        CHECK((sum == Int128{to_fine(together.end).value()} * sms));
    }
}
