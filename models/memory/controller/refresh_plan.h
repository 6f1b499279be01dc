// SPDX-License-Identifier: Apache-2.0
// When a pseudo-channel owes refreshes, and when it must give one: due at even distances, postponed as far as
// the policy allows while bursts wait. It has no clock: time is an argument.
#pragma once

#include "models/memory/standards/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

class RefreshPlan {
public:
    explicit RefreshPlan(const DramSpec& spec);

    /// The next refresh falls due; Cycles::max() without refresh.
    Cycles due() const { return due_; }
    /// All that falls due up to `now` is owed from then on. `waiting`: bursts are in the windows. True if a
    /// refresh begins now: from then on nothing that arrives can hold it back.
    bool begins(Cycles now, bool waiting);
    /// Some are owed that only waiting bursts hold back.
    bool owes() const { return owed_ > 0; }
    /// Begun and not yet given.
    bool pending() const { return pending_; }
    /// The pending one concerns the whole pseudo-channel, not only bank().
    bool all_banks() const { return policy_ == RefreshPolicy::AllBank; }
    int bank() const { return bank_; }
    /// The pending one was given.
    void given();
    /// From one to the next; zero without refresh.
    Cycles interval() const { return interval_; }
    /// Whether all that follows is the same.
    bool same_from_now_on(const RefreshPlan& other) const {
        return due_ == other.due_ && owed_ == other.owed_ && pending_ == other.pending_ &&
               bank_ == other.bank_;
    }
    /// `count` of them, whole rounds of the banks, fall due and are given; none is owed.
    void skip(std::int64_t count) { due_ += interval_ * count; }

private:
    const RefreshPolicy policy_;
    const int banks_, postpone_;
    Cycles interval_, due_ = Cycles::max();
    std::int64_t owed_ = 0;
    bool pending_ = false;
    int bank_ = 0;  // whose turn it is
};

}  // namespace systole
