// SPDX-License-Identifier: Apache-2.0
#include "models/memory/controller/refresh_plan.h"

#include "sim/base/clock.h"

namespace systole {

RefreshPlan::RefreshPlan(const DramSpec& spec)
    : policy_(spec.refresh), banks_(spec.banks()), postpone_(spec.refresh_postpone) {
    if (policy_ == RefreshPolicy::Off) return;
    interval_ = Cycles(spec.timing.at(all_banks() ? "REFI" : "REFISB"));
    // The first falls due so long after the last as an interval is.
    const Cycles since = ClockDomain(spec.clock).at_or_before(spec.refresh_phase);
    due_ = interval_ - Cycles(since.value() % interval_.value());
}

bool RefreshPlan::begins(Cycles now, bool waiting) {
    for (; due_ <= now; due_ += interval_) ++owed_;
    if (pending_ || owed_ == 0 || (waiting && owed_ <= postpone_)) return false;
    pending_ = true;
    return true;
}

void RefreshPlan::given() {
    pending_ = false;
    --owed_;
    if (!all_banks()) bank_ = bank_ + 1 == banks_ ? 0 : bank_ + 1;
}

}  // namespace systole
