// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/matrix_account.h"

namespace systole::systolic {

void MatrixAccount::pass(const CausalLog& log, CausalLog::EventId started, const PassTimes& times,
                         const Work& work) {
    charge_wait(log, started, work.slots, false);
    const auto fill = [&](std::int64_t vectors, std::int64_t useful) {
        account_.fill_split(clock_.edge(times.start + Cycles(vectors)), work.slots, useful,
                            work.slots - useful, SlotClass::Padding);
    };
    if (work.last != work.useful) fill(work.vectors - 1, work.useful);
    fill(work.vectors, work.last);
    account_.fill(clock_.edge(times.stream_end), SlotClass::OnChip, work.slots);
    drained_ = clock_.edge(times.done);
    slots_ = work.slots;
}

void MatrixAccount::finish(const CausalLog& log, CausalLog::EventId last) {
    if (last != CausalLog::kNone) charge_wait(log, last, slots_, true);
}

void MatrixAccount::charge_wait(const CausalLog& log, CausalLog::EventId until, std::int64_t slots,
                                bool over) {
    log.explain(until, account_.charged_until(), pieces_);
    for (const auto& piece : pieces_) {
        const bool own_drain = piece.owner == SlotClass::Ramp && piece.end <= drained_;
        const bool matrix_work = piece.owner == SlotClass::Dependency || piece.owner == SlotClass::Ramp;
        account_.fill(piece.end, over && matrix_work && !own_drain ? SlotClass::Tail : piece.owner, slots);
    }
}

}  // namespace systole::systolic
