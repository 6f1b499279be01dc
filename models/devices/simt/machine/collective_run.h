// SPDX-License-Identifier: Apache-2.0
// A collective on this chip: a few CTAs read its tensor piece by piece out of the L2, exchange pieces with
// other chips, and store results as they come. How fast they may go, the library's own time says
// (kernels/collective_cost.h); later they are where the memory is behind. Plain C++ that takes `now`; both
// engines run it.
//
//   reads, some pieces ahead ─► exchange, at the library's pace ─► stores, beside what comes in
//
// All SMs wait for the links: those without a CTA, too, for more CTAs would not shorten it. So all time is
// host's (the class of what lies outside the chip), but that of a collective without data, which is launch's,
// and waits for pieces that are not read or written in time, which are the memory's.
#pragma once

#include <vector>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/machine/kernel_execution.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

class CollectiveRun final : public KernelExecution {
public:
    /// Both must outlive it. The device has a chip link.
    CollectiveRun(const CollectivePlan& plan, const SimtSpec& spec, Ticks start);

    Ticks next_event() const override;
    void advance(Ticks now, std::vector<Access>& accesses) override;
    void answered(std::int64_t number, Ticks now) override;
    bool finished() const override { return done_; }
    KernelAccount finish(Ticks end) override;

private:
    enum Step : std::int64_t { kRead, kExchange, kWrite, kSteps };

    /// Of `all`, what pieces before this one have.
    std::int64_t before(std::int64_t piece, std::int64_t all) const;
    Bytes share(std::int64_t piece, Bytes all) const;
    Access of_l2(std::int64_t piece, Step step, const MatrixPlace& matrix) const;
    Access exchange(std::int64_t piece) const;
    /// The library's time for a piece.
    Ticks pace(std::int64_t piece) const;
    /// When the piece that leaves at `at` is to be stored so that its last byte is there in time.
    Ticks store_at(std::int64_t piece, Ticks at) const;
    bool may_leave() const { return left_ < pieces_ && there_[static_cast<std::size_t>(left_)]; }

    const CollectivePlan& plan_;
    const SimtSpec& spec_;
    const Ticks start_, hop_;
    const std::int64_t pieces_;
    std::vector<bool> there_;       // pieces that are read
    std::int64_t asked_ = 0;        // pieces
    std::int64_t left_ = 0;         // exchanges begun
    std::int64_t stored_ = 0;       // stores begun
    std::int64_t waiting_ = 0;      // accesses without an answer
    Ticks due_;                     // the next piece may leave
    std::vector<Ticks> store_due_;  // of those that have left
    Ticks end_;                     // as far as the library's pace goes
    Ticks late_;                    // all that pieces were read too late
    bool done_ = false;
};

}  // namespace systole::simt
