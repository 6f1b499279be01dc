// SPDX-License-Identifier: Apache-2.0
// One kernel with every SM simulated warp instruction by warp instruction: the slow twin of KernelRun. CTAs
// are given to places as there; each runs its warp program, whose copies, loads and stores take the CTA's
// blocks in portions. Plain C++ that takes `now`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/machine/attention_portions.h"
#include "models/devices/simt/machine/cta_deal.h"
#include "models/devices/simt/machine/cta_portions.h"
#include "models/devices/simt/machine/cta_work.h"
#include "models/devices/simt/machine/kernel_execution.h"
#include "models/devices/simt/machine/sms_in_warps.h"
#include "sim/base/clock.h"

namespace systole::simt {

class KernelInWarps final : public KernelExecution {
public:
    /// `plan` and `work`, which is of it, must outlive it. `clock`: that of the SMs.
    KernelInWarps(const KernelPlan& plan, const CtaWork& work, const SimtSpec& spec, Hertz clock,
                  Ticks start);

    void keep_histories(std::size_t /*pieces*/) override { keeps_histories_ = true; }
    double share_done() const override {
        return 1 - static_cast<double>(deal_.left() + left_) / static_cast<double>(grid_);
    }
    std::int64_t resident_ctas() const override { return left_; }
    Ticks next_event() const override;
    void advance(Ticks now, std::vector<Access>& accesses) override;
    void answered(std::int64_t number, Ticks now) override;
    bool finished() const override;
    KernelAccount finish(Ticks end) override;

private:
    /// What runs on an SM, by the number that the SM gave it.
    struct Cta {
        std::vector<std::int64_t> tiles;  // numbers of the CTAs that have one each, one if not persistent
        std::int64_t begin = 0;           // cycle in which it got its place
        std::int64_t first = 0;           // of its first instruction
        std::int64_t left = 0;            // and left it, once it has
    };
    /// A place for a CTA; taken until a cycle that is known once the CTA has ended.
    struct Place {
        std::optional<std::size_t> cta;
        std::int64_t free = 0;
    };
    struct OfSm {
        std::vector<Cta> ctas;
        std::vector<Place> places;
    };
    std::int64_t cycle_of(Ticks now) const { return clock_.at_or_before(now - start_).value(); }
    std::vector<std::int64_t> tiles_of(std::int64_t cta) const;
    const CtaProgram& program(const std::vector<std::int64_t>& tiles);
    void free_places(std::int64_t cycle);
    void dispatch(std::int64_t cycle);
    std::int64_t die_of(std::size_t sm) const;
    void start(std::size_t sm, Place& place, std::int64_t cycle);
    std::int64_t hand_over(std::int64_t die, std::int64_t cycle);
    /// Not all that it stored is answered.
    bool holds(std::size_t sm, const Place& place) const;
    /// The next event, not before `cycle`.
    void plan_next(std::int64_t cycle);

    const KernelPlan& plan_;
    const CtaWork& work_;
    const SimtSpec& spec_;
    const ClockDomain clock_;
    const Ticks start_;
    /// By steps of tiles, those with a mask behind them.
    std::map<std::vector<std::array<std::int64_t, 2>>, CtaProgram> programs_;
    const std::optional<AttentionPortions> attention_;  ///< of attention; others have
    const std::optional<CtaPortions> portions_;
    SmsInWarps sms_;
    std::vector<OfSm> of_sm_;
    std::vector<SmsInWarps::Leaving> leaving_;    // scratch
    std::vector<Ticks> answered_;                 // by SM: the last answer to a store
    std::map<std::int64_t, std::size_t> stores_;  // under way: of which SM
    const bool stores_hold_;
    const std::int64_t grid_;     // CTAs that get places; persistent ones do what others would do later
    CtaDeal deal_;                // of those
    const double interval_;       // cycles between two that a die hands over
    std::vector<double> handed_;  // by die: the cycle in which the last one was
    std::int64_t left_ = 0, macs_ = 0, steps_ = 0;
    std::int64_t next_ = 0;  // cycle
    bool keeps_histories_ = false;
};

}  // namespace systole::simt
