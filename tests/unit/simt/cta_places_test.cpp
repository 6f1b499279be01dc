// SPDX-License-Identifier: Apache-2.0
// When CTAs get places on SMs, and how long they keep them.
#include <catch2/catch.hpp>

#include "tests/unit/simt/gemm_at_hand.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::cycles;
using systole::simt::test::IdealRun;
using systole::simt::test::plan_of;
using systole::simt::test::run;
using systole::simt::test::small_gpu;

TEST_CASE("A CTA keeps its place until its stores are answered, whoever stored", "[simt]") {
    const GemmPlan plan = plan_of(128, 128 * 2, 64);
    SimtSpec gpu = small_gpu(1);
    const GemmBlocks work(plan);
    const std::int64_t cta = 10 + 100 + 500 + 50 + 1024 + 200;
    for (const TensorIssue issue : {TensorIssue::Warp, TensorIssue::WarpGroup}) {
        gpu.sm.tensor.issue = issue;
        const IdealRun two(work, times_of(plan, gpu, gpu.core_clock), 1, Ticks(500'000), 1000);
        CHECK(two.end == Ticks(2 * (cta + 500) * 1000));
        CHECK(cycles(two.account, SlotClass::Memory) == 2 * (500 + 500));  // data, stores
    }
    // Two at a time: the third takes the place of the first one answered, while the second goes on.
    GemmPlan pairs = plan_of(128, 128 * 3, 64);
    pairs.timing.resident = 2;
    pairs.timing.interval_full = 2048;
    const IdealRun three = run(pairs, 1, Ticks(500'000), 1000);
    CHECK(three.end == Ticks(2 * (cta + 500) * 1000));
}

TEST_CASE("A chip gives CTAs places one after the other", "[simt]") {
    const GemmPlan plan = plan_of(128, 128 * 8, 64);
    const SimtSpec gpu = small_gpu(4);
    const GemmBlocks work(plan);
    const std::int64_t cta = 10 + 100 + 500 + 50 + 1024 + 200 + 500;
    CtaTimes times = times_of(plan, gpu, gpu.core_clock);
    times.handing = fine_cycles(30, gpu.core_clock);
    // Four SMs that go in step: the last one's CTA is there after 120 cycles, that of each two after 60.
    // Their second ones follow as they end, one by one: only the last waits for its own.
    const IdealRun four(work, times, 4, Ticks(500'000), 1000);
    CHECK(four.end == Ticks((4 * 30 + cta + 30 + cta) * 1000));
    CHECK(cycles(four.account, SlotClass::Launch) == 4 * (4 * 30 + 10 + 30 + 10));
    const IdealRun two(work, times, 4, Ticks(500'000), 2);
    CHECK(two.end == Ticks((2 * 30 + 2 * 30 + cta + 30 + cta) * 1000));
    // Longer intervals than CTAs take: they are all that counts.
    times.handing = fine_cycles(5000, gpu.core_clock);
    CHECK(IdealRun(work, times, 4, Ticks(500'000), 1).end == Ticks((8 * 5000 + cta) * 1000));
    // Persistent CTAs are there once, and take other tiles by themselves.
    times.persistent = true;
    CHECK(IdealRun(work, times, 1, Ticks(0), 1).end ==
          Ticks((5000 + 10 + 100 + 8 * (50 + 1024 + 200)) * 1000));
}

TEST_CASE("What passes between two CTAs is a time of the core clock, and none between what are no CTAs",
          "[simt]") {
    SimtSpec gpu = small_gpu(1);
    gpu.core_clock = Hertz(2'000'000'000);
    gpu.launch.cta_interval = Ticks(700);
    CHECK(cycles_between_ctas(plan_of(128, 128, 64), gpu) == Approx(1.4));
    StreamPlan sums;
    CHECK(cycles_between_ctas(sums, gpu) == Approx(1.4));
    sums.of_last_ctas = true;
    CHECK(cycles_between_ctas(sums, gpu) == 0);
    VectorPlan vector;
    vector.kernel.pieces = 8;
    CHECK(cycles_between_ctas(vector, gpu) == Approx(1.4 / 8));
    vector.kernel.kind = VectorKernel::Kind::Lookup;
    vector.kernel.made_by = Library::PyTorch2023;
    CHECK(cycles_between_ctas(vector, gpu) == 0);
    vector.kernel.stores_each = true;  // but of those that go through few lookups themselves
    CHECK(cycles_between_ctas(vector, gpu) == Approx(1.4 / 8));
    // Half the clock, twice the time.
    const KernelPlan plan(plan_of(128, 128, 64));
    CHECK(times_of(plan, gpu, Hertz(1'000'000'000)).handing == fine_cycles(1.4, Hertz(1'000'000'000)));
}
