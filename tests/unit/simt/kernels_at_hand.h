// SPDX-License-Identifier: Apache-2.0
// Kernels written by hand, and an L2 that answers everything after a fixed time.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "models/devices/simt/machine/kernel_run.h"

namespace systole::simt::test {

/// One SM's tensor cores do 1024 MACs a cycle of 1 ns.
inline SimtSpec small_gpu(int sms) {
    SimtSpec spec;
    spec.core_clock = Hertz(1'000'000'000);
    spec.sm.count = sms;
    spec.sm.sub_cores = 4;
    spec.sm.tensor.macs[static_cast<std::size_t>(DType::Bf16)] = 256;
    spec.launch.cta = Cycles(10);
    return spec;
}

/// Runs a kernel to its end; answers come `latency` after their requests.
struct IdealRun {
    KernelAccount account;
    Ticks end;
    std::int64_t read = 0, written = 0;  ///< bytes through the ports of all SMs' clusters

    /// Told of every block that is read or written.
    using Passing = std::function<void(bool write, const TileAccess::Block& block)>;

    IdealRun(const CtaWork& work, const CtaTimes& times, std::int64_t sms, Ticks latency,
             std::int64_t largest_group, std::int64_t left_over = 0) {
        KernelRun run(work, times, sms, sms + left_over, Ticks(0), largest_group);
        go(run, latency, {});
    }
    IdealRun(KernelExecution& run, Ticks latency, const Passing& passing) { go(run, latency, passing); }

private:
    void go(KernelExecution& run, Ticks latency, const Passing& passing) {
        std::multimap<Ticks, std::int64_t> answers;
        std::vector<KernelExecution::Access> accesses;
        while (true) {
            run.advance(end, accesses);
            for (const KernelExecution::Access& access : accesses) {
                for (const TileAccess::Block& block : access.tiles.blocks) {
                    (access.write ? written : read) += block.bytes * block.sms;
                    if (passing) passing(access.write, block);
                }
                // As on the chip, what asks for nothing has it at once.
                const bool nothing = access.tiles.blocks.empty();
                answers.emplace(nothing ? end : end + latency, access.number);
            }
            accesses.clear();
            if (run.finished()) break;
            end = run.next_event();
            if (!answers.empty()) end = std::min(end, answers.begin()->first);
            while (!answers.empty() && answers.begin()->first == end) {
                run.answered(answers.begin()->second, end);
                answers.erase(answers.begin());
            }
        }
        account = run.finish(end);
    }
};

}  // namespace systole::simt::test
