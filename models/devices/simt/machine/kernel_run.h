// SPDX-License-Identifier: Apache-2.0
// One kernel on all SMs: gives CTAs to places in the order of their numbers, and keeps the groups of SMs.
// At first every SM gets a CTA, then every second place, and so on; a free place takes the next CTA. When
// fewer alike CTAs are left than a group has SMs, it is split. CTAs of a cluster get places on SMs of one GPC
// at once: SMs have numbers GPC by GPC, without those that are left over when each GPC has taken as many
// clusters as it can; groups are of whole clusters. Of several dies each has CTAs of its own, and groups that
// are all of its SMs. Plain C++ that takes `now`.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "models/devices/simt/machine/cta_deal.h"
#include "models/devices/simt/machine/cta_times.h"
#include "models/devices/simt/machine/cta_work.h"
#include "models/devices/simt/machine/kernel_execution.h"
#include "models/devices/simt/machine/sm_group.h"

namespace systole::simt {

class KernelRun final : public KernelExecution {
public:
    /// Dies with as many SMs each, and how CTAs are dealt to them. Several have no clusters.
    struct Dies {
        std::int64_t count = 1;
        bool neighbours = false;
    };
    /// `work` must outlive it. `sms`: those of `all` that can take its clusters. `largest_group`: SMs that
    /// are simulated as one, at most, and at least a cluster's.
    KernelRun(const CtaWork& work, const CtaTimes& times, std::int64_t sms, std::int64_t all, Ticks start,
              std::int64_t largest_group = std::numeric_limits<std::int64_t>::max(),
              const Dies& dies = {1, false});
    KernelRun(const KernelRun&) = delete;  // its groups point to its times
    KernelRun& operator=(const KernelRun&) = delete;

    void keep_histories(std::size_t pieces) override;
    double share_done() const override {
        return 1 - static_cast<double>(deal_.left() + left_) / static_cast<double>(work_.ctas());
    }
    std::int64_t resident_ctas() const override { return left_; }
    std::int64_t begun_ctas() const override { return work_.ctas() - left_out_ - deal_.left(); }
    std::array<Int128, kSlotClasses> times_so_far() const override;
    void leave_out(std::int64_t ctas) override;
    Ticks next_event() const override { return next_; }
    void advance(Ticks now, std::vector<Access>& accesses) override;
    void answered(std::int64_t number, Ticks now) override;
    bool finished() const override {
        return deal_.left() == 0 && left_ == 0 && waiting_ == 0 && next_event() == Ticks::max();
    }
    KernelAccount finish(Ticks end) override;

private:
    static constexpr int kNone = std::numeric_limits<int>::max();

    /// Halves into which a group was split since then all hear of the answer.
    struct Sent {
        SmGroup::RunId run = 0;
        std::int64_t step = 0, first_sm = 0, sms = 0;
        std::int64_t first_cta = 0;
    };

    std::int64_t die_of(const SmGroup& group) const { return group.first_sm() / sms_of_die_; }
    void look_at(std::size_t group);
    void advance_group(std::size_t group, Ticks now, std::vector<Access>& accesses);
    bool dispatch(Ticks now);
    void start(std::size_t group, int place, Ticks now);
    Fine hand_over(std::int64_t die, std::int64_t ctas, Ticks now);
    bool must_wait(const SmGroup::Request& request) const;
    Access access_for(const SmGroup::Request& request, std::int64_t first_sm);

    const CtaWork& work_;
    const CtaTimes times_;
    const std::int64_t cluster_, left_over_;  // CTAs; SMs that no cluster can use
    const Ticks start_;
    std::vector<SmGroup> groups_;     // in the order of their SMs
    std::vector<Ticks> next_events_;  // of each of them, as last looked at
    std::vector<int> free_places_;    // likewise: the first one, or kNone
    Ticks next_ = Ticks::max();       // the least of next_events_
    std::size_t with_free_ = 0;       // groups that have a free place
    CtaDeal deal_;
    const std::int64_t sms_of_die_;
    std::vector<Fine> handed_;   // by die: when its last CTA was handed over
    std::int64_t to_hand_over_;  // CTAs that are; persistent ones take other tiles by themselves
    std::int64_t left_ = 0;      // CTAs on SMs
    std::int64_t waiting_ = 0;   // accesses without an answer
    std::int64_t left_out_ = 0;  // CTAs
    SmGroup::RunId next_run_ = 0;
    /// Reads of results that are not stored yet, and their SMs.
    std::vector<std::pair<SmGroup::Request, std::int64_t>> held_;
    std::set<std::int64_t> stored_;           // CTAs that are alone
    std::vector<Sent> sent_;                  // by number; used again
    std::vector<std::int64_t> free_;          // numbers
    std::vector<SmGroup::Request> requests_;  // scratch
    std::int64_t macs_ = 0, steps_ = 0;
    bool keeps_histories_ = false;
};

}  // namespace systole::simt
