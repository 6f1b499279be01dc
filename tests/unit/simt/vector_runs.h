// SPDX-License-Identifier: Apache-2.0
// A kernel without tensor cores in either engine, in front of an L2 that answers everything after a fixed
// time: which bytes pass, and whose the time is.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <numeric>
#include <vector>

#include "models/devices/simt/kernels/time_vector.h"
#include "models/devices/simt/machine/kernel_in_warps.h"
#include "tests/unit/simt/gpu_config.h"
#include "tests/unit/simt/kernels_at_hand.h"

namespace systole::simt::test {

inline constexpr std::int64_t kIn = 0, kSecond = 1 << 22, kOut = 2 << 22, kColumns = 3 << 22;
inline constexpr Ticks kLatency(400'000);

inline SimtSpec gpu(int sms) {
    SimtSpec spec = systole::test::shipped_gpu("a100");
    spec.sm.count = sms;
    spec.sm.gpcs.clear();
    return spec;
}

inline MatrixPlace place(std::int64_t address, std::int64_t bytes) {
    return {address, Operand::Activations, Bytes(bytes), Bytes(0)};
}

inline VectorPlan plan_of(VectorKernel kernel, const SimtSpec& spec) {
    VectorPlan plan;
    plan.timing = time_vector(kernel, spec.sm).value();
    plan.kernel = kernel;
    const std::int64_t elements = kernel.rows * kernel.cols;
    plan.in.push_back({place(kIn, kernel.rows * row_bytes(kernel.in, kernel.cols).value()), elements});
    plan.to = {place(kOut, kernel.rows * row_bytes(kernel.out, kernel.cols).value()), elements};
    plan.sms = spec.sm.count;
    return plan;
}

/// How often each byte of a matrix passes.
class Passes {
public:
    Passes(const MatrixPlace& matrix, bool write)
        : matrix_(matrix), write_(write), times_(static_cast<std::size_t>(matrix.bytes.value())) {}
    void add(bool write, const TileAccess::Block& block) {
        const std::int64_t end = matrix_.address + matrix_.bytes.value();
        if (write != write_ || block.address < matrix_.address || block.address >= end) return;
        for (std::int64_t i = 0; i < block.bytes; ++i)
            times_.at(static_cast<std::size_t>(block.address - matrix_.address + i)) += block.sms;
    }
    bool all(std::int64_t times) const {
        return std::all_of(times_.begin(), times_.end(), [&](std::int64_t own) { return own == times; });
    }
    std::int64_t sum() const { return std::accumulate(times_.begin(), times_.end(), std::int64_t{0}); }

private:
    const MatrixPlace matrix_;
    const bool write_;
    std::vector<std::int64_t> times_;
};

inline std::int64_t of(const KernelAccount& account, SlotClass owner) {
    return static_cast<std::int64_t>(account.times[static_cast<std::size_t>(owner)] >> kFineBits);
}

/// Runs it in either engine, and checks its bytes and that all time has an owner.
inline void check(const VectorPlan& vector, const SimtSpec& spec, bool in_warps,
                  bool second_is_whole = true) {
    const KernelPlan plan(vector);
    const auto work = work_of(plan);
    const VectorPlan& own = std::get<VectorPlan>(plan);
    Passes in(own.in[0].place, false), out(own.to.place, true);
    std::vector<Passes> others;
    for (std::size_t i = 1; i < own.in.size(); ++i) others.emplace_back(own.in[i].place, false);
    for (const MatrixPlace& column : own.columns) others.emplace_back(column, false);
    // Results that lie beside the others, and sums that CTAs leave for each other.
    Passes beside(own.beside, true), left(own.sums, true), added(own.sums, false);
    const auto passing = [&](bool write, const TileAccess::Block& block) {
        in.add(write, block);
        out.add(write, block);
        beside.add(write, block);
        left.add(write, block);
        added.add(write, block);
        for (Passes& other : others) other.add(write, block);
    };
    const CtaTimes times = times_of(own, spec, spec.core_clock);
    std::unique_ptr<KernelExecution> run;
    if (in_warps)
        run = std::make_unique<KernelInWarps>(plan, *work, spec, spec.core_clock, Ticks(0));
    else
        run = std::make_unique<KernelRun>(*work, times, spec.sm.count, spec.sm.count, Ticks(0));
    const IdealRun ideal(*run, kLatency, passing);
    CHECK(in.all(own.kernel.rereads_l1 ? 1 : own.kernel.passes()));
    CHECK(out.all(1));
    CHECK(beside.all(1));
    CHECK(left.all(1));
    CHECK(added.all(1));
    if (own.in.size() > 1 && second_is_whole) CHECK(others[0].all(1));
    for (std::size_t i = 0; i < own.columns.size(); ++i)
        CHECK(others[i].all(std::min<std::int64_t>(own.kernel.ctas(), spec.sm.count)));
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < kSlotClasses; ++c) sum += of(ideal.account, static_cast<SlotClass>(c));
    CHECK(sum <= ideal.end.value() * spec.sm.count);
    CHECK(sum >= ideal.end.value() * spec.sm.count - static_cast<std::int64_t>(kSlotClasses));
    CHECK(of(ideal.account, SlotClass::Useful) == 0);
    CHECK(of(ideal.account, SlotClass::Vector) > 0);
    CHECK(of(ideal.account, SlotClass::Memory) >= kLatency.value());
    CHECK(of(ideal.account, SlotClass::Ramp) == 0);
}

}  // namespace systole::simt::test
