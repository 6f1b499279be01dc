// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/times_in_warps.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::simt {
namespace {

/// Which CTAs are on the SM between two moments.
struct Phase {
    bool placed = false, running = false, multiplying = false, behind = false, storing = false;
};

Phase phase_at(const std::vector<CtaSpan>& ctas, std::int64_t at) {
    Phase phase;
    for (const CtaSpan& cta : ctas) {
        phase.storing = phase.storing || (at >= cta.end && at < cta.left);
        if (at < cta.placed || at >= cta.end) continue;
        phase.placed = true;
        if (at < cta.begin) continue;
        phase.running = true;
        if (cta.first_mma < 0 || at < cta.first_mma) continue;
        (at < cta.last_mma_end ? phase.multiplying : phase.behind) = true;
    }
    return phase;
}

/// Who owns time that tensor cores lost: while no CTA is between its products, prologues and epilogues are
/// ramps, but for what epilogues' arithmetic takes.
SlotClass owner_of(Loss loss, const Phase& phase) {
    if (loss == Loss::Memory) return SlotClass::Memory;
    if (!phase.multiplying && !(loss == Loss::Vector && phase.behind)) return SlotClass::Ramp;
    if (loss == Loss::OnChip) return SlotClass::OnChip;
    return loss == Loss::Vector ? SlotClass::Vector : SlotClass::Dependency;
}

/// Moments between which nothing of the above changes.
std::vector<std::int64_t> moments_of(const std::vector<CtaSpan>& ctas) {
    std::vector<std::int64_t> moments{0};
    for (const CtaSpan& cta : ctas)
        for (const std::int64_t at :
             {cta.placed, cta.begin, cta.first_mma, cta.last_mma_end, cta.end, cta.left})
            if (at > 0) moments.push_back(at);
    std::sort(moments.begin(), moments.end());
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    return moments;
}

/// What FP32 pipes multiplied is useful: by what tensor cores would take, out of the pipes' own time and then
/// of that in which others waited for memory.
void multiplied(Fine macs, ClassTimes& times) {
    std::int64_t left = macs.value();
    for (const SlotClass owner : {SlotClass::Vector, SlotClass::Memory}) {
        std::int64_t& own = times[static_cast<std::size_t>(owner)];
        const std::int64_t taken = std::min(left, own);
        own -= taken;
        left -= taken;
    }
    SYSTOLE_CHECK(left == 0, "{} of time for products that nobody had", left);
    times[static_cast<std::size_t>(SlotClass::Useful)] += macs.value();
}

}  // namespace

ClassTimes times_in_warps(const Sm& sm, const std::vector<CtaSpan>& ctas, CtaKind kind, const SmSpan& span) {
    std::array<std::int64_t, kSlotClasses> cycles{};  // of sub-cores
    const auto of = [&](SlotClass owner) -> std::int64_t& { return cycles[static_cast<std::size_t>(owner)]; };
    const std::vector<std::int64_t> moments = moments_of(ctas);
    for (std::size_t i = 0; i + 1 < moments.size(); ++i) {
        const std::int64_t from = moments[i], until = moments[i + 1];
        const Phase phase = phase_at(ctas, from);
        const std::int64_t busy = sm.busy(from, until), all = (until - from) * span.sub_cores;
        of(SlotClass::Useful) += busy;
        if (!phase.running) {
            of(phase.storing  ? SlotClass::Memory
               : phase.placed ? SlotClass::Launch
                              : SlotClass::Tail) += all - busy;
        } else if (kind == CtaKind::Stream) {
            of(SlotClass::Vector) += all - busy;
        } else {
            const LostTime lost = sm.lost(from, until);
            for (std::size_t l = 0; l < kLosses; ++l) {
                const auto loss = static_cast<Loss>(l);
                of(kind == CtaKind::Tensor ? owner_of(loss, phase)
                   : loss == Loss::Memory  ? SlotClass::Memory
                                           : SlotClass::Vector) += lost[l];
            }
        }
    }
    // Rounded down but for work; what that leaves is the wait for stores, and the tail.
    ClassTimes times{};
    Fine charged;
    for (std::size_t c = 0; c < kSlotClasses; ++c) {
        const Int128 time = Int128{cycles[c]} * kTicksPerSecond << kFineBits;
        const Int128 rate = Int128{span.clock.value()} * span.sub_cores;
        const bool up = c == static_cast<std::size_t>(SlotClass::Useful);
        times[c] = static_cast<std::int64_t>((up ? time + rate - 1 : time) / rate);
        charged += Fine(times[c]);
    }
    // Edges of the clock are whole ticks: between two of them may be less than so many cycles take, by a
    // tick.
    if (const Fine over = charged - span.end; over > Fine()) {
        SYSTOLE_CHECK(over < to_fine(Ticks(1)), "an SM's work until {} of {}", charged.value(),
                      span.end.value());
        static_assert(static_cast<int>(SlotClass::Useful) == 0);
        std::int64_t& longest = *std::max_element(times.begin() + 1, times.end());
        SYSTOLE_CHECK(longest >= over.value(), "a tick too much, and no time but of work");
        longest -= over.value();
        charged = span.end;
    }
    const Fine wait = std::max(Fine(), span.stored - charged);
    times[static_cast<std::size_t>(kind == CtaKind::Stream ? SlotClass::Vector : SlotClass::Memory)] +=
        wait.value();
    times[static_cast<std::size_t>(SlotClass::Tail)] += (span.end - charged - wait).value();
    multiplied(span.macs, times);
    return times;
}

}  // namespace systole::simt
