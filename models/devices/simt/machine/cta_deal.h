// SPDX-License-Identifier: Apache-2.0
// Which CTAs go to the SMs of which die, in which order. CTA n of a grid goes to die n mod dies, whatever the
// others do (the dies' dispatchers read one queue, and each takes its own). Some kernels number their CTAs
// anew: CTA n does the work of number n / dies of its die's share, which is of neighbours; what is left of an
// uneven grid keeps its numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/machine/cta_work.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

class CtaDeal {
public:
    CtaDeal(std::int64_t ctas, std::int64_t dies, bool neighbours);

    std::int64_t left() const { return left_; }
    std::int64_t left(std::int64_t die) const { return of_die_[static_cast<std::size_t>(die)].left; }
    /// The die's next CTAs: as many as lie evenly behind each other. There is one left at least.
    CtaRange next(std::int64_t die) const { return of_die_[static_cast<std::size_t>(die)].runs.front(); }
    /// Takes that many of them.
    void take(std::int64_t die, std::int64_t count);
    /// Nobody gets the next `count` of them, a multiple of the dies, of each of which there are more.
    void leave_out(std::int64_t count);

private:
    struct OfDie {
        std::deque<CtaRange> runs;
        std::int64_t left = 0;
    };
    std::vector<OfDie> of_die_;
    std::int64_t left_;
};

/// Whether the kernel's CTAs are numbered anew.
bool neighbours_on_die(const KernelPlan& plan, const KernelsSpec& kernels);

}  // namespace systole::simt
