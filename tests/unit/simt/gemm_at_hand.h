// SPDX-License-Identifier: Apache-2.0
// Products whose phases are written by hand, on groups of SMs.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "models/devices/simt/machine/gemm_blocks.h"
#include "tests/unit/simt/kernels_at_hand.h"

namespace systole::simt::test {

/// Fine time of a cycle.
constexpr std::int64_t kCycle = std::int64_t{1000} << kFineBits;

/// Of tiles of 128 x 128; a step takes 1,024 cycles of an SM.
inline GemmPlan plan_of(std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmPlan plan;
    plan.kernel.shape = {1, m, n, k};
    plan.kernel.tile = {128, 128, 64, 4, 2, 2, 1, 1};  // 1,048,576 MACs a step: 1024 cycles
    plan.timing.prologue = Cycles(100);
    plan.timing.request = Cycles(20);
    plan.timing.ahead = 3;
    plan.timing.fill = Cycles(50);
    plan.timing.interval_alone = plan.timing.interval_full = plan.timing.busy = 1024;
    plan.timing.epilogue = Cycles(200);
    plan.columns = {{"bias", {}, 4}};  // of an epilogue that has one
    return plan;
}

/// Whole ones, of all SMs.
inline std::int64_t cycles(const KernelAccount& account, SlotClass owner) {
    const Int128 time = account.times[static_cast<std::size_t>(owner)];
    CHECK(time % kCycle == 0);
    return static_cast<std::int64_t>(time / kCycle);
}

/// SMs are in as many GPCs, or in one; CTAs of a cluster see each other's signals after 200 cycles.
inline IdealRun run(const GemmPlan& plan, int sms, Ticks latency, std::int64_t largest_group = 1000,
                    const std::vector<int>& gpcs = {}) {
    SimtSpec gpu = small_gpu(sms);
    gpu.sm.gpcs = gpcs;
    gpu.sm.cluster_latency = Cycles(200);
    const GemmBlocks work(plan);
    const std::int64_t in_clusters = gpu.sm.for_clusters(work.cluster());
    return {
        work, times_of(plan, gpu, gpu.core_clock), in_clusters, latency, largest_group, sms - in_clusters};
}

}  // namespace systole::simt::test
