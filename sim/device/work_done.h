// SPDX-License-Identifier: Apache-2.0
// How far a run has come, for whoever looks on from another thread.
#pragma once

#include <algorithm>
#include <atomic>

namespace systole {

/// One network may take several runs (mappings that are tried, more of its equal turns): each counts anew,
/// and may grow on its way. What is told is by commands, kernels and CTAs, which take different times.
class WorkDone {
public:
    /// A machine begins.
    void begin_run() {
        share_ = 0;
        ++runs_;
    }
    /// From 0 to 1, of the run that goes on.
    void update(double share) { share_.store(std::clamp(share, 0.0, 1.0), std::memory_order_relaxed); }

    int runs() const { return runs_; }
    double share() const { return share_; }

private:
    std::atomic<int> runs_ = 0;
    std::atomic<double> share_ = 0;
};

}  // namespace systole
