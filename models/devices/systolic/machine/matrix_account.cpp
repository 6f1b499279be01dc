// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/matrix_account.h"

#include <algorithm>

namespace systole::systolic {

void MatrixAccount::pass(const CausalLog& log, CausalLog::EventId started, const PassTimes& times,
                         const Work& work) {
    charge_wait(log, started, work.slots, false);
    const auto fill = [&](std::int64_t vectors, std::int64_t useful) {
        account_.fill_split(clock_.edge(times.start + work.each * vectors), work.slots, useful,
                            work.slots - useful, SlotClass::Padding);
    };
    if (work.last > work.slots) {  // what is left of an even spread goes to as many vectors
        const std::int64_t left = work.last - work.useful;
        fill(work.vectors - left, work.useful);
        fill(work.vectors, work.useful + 1);
    } else {
        if (work.last != work.useful) fill(work.vectors - 1, work.useful);
        fill(work.vectors, work.last);
    }
    account_.fill(clock_.edge(times.stream_end), SlotClass::OnChip, work.slots);
    keep(SlotClass::Useful, work.command);
    drained_ = clock_.edge(work.readable);
    slots_ = work.slots;
}

void MatrixAccount::finish(const CausalLog& log, CausalLog::EventId last) {
    if (last != CausalLog::kNone) charge_wait(log, last, slots_, true);
}

void MatrixAccount::charge_wait(const CausalLog& log, CausalLog::EventId until, std::int64_t slots,
                                bool over) {
    log.explain(until, account_.charged_until(), pieces_);
    for (const auto& piece : pieces_) {
        const std::uint32_t command = log[piece.event].command;
        const bool ramp = piece.owner == SlotClass::Ramp;
        if (over && ramp && drained_ > account_.charged_until()) {
            account_.fill(std::min(piece.end, drained_), SlotClass::Ramp, slots);  // the unit's own drain
            keep(SlotClass::Ramp, command);
        }
        const bool matrix_work = ramp || piece.owner == SlotClass::Dependency;
        const SlotClass owner = over && matrix_work ? SlotClass::Tail : piece.owner;
        account_.fill(piece.end, owner, slots);
        keep(owner, command);
    }
}

void MatrixAccount::keep(SlotClass owner, std::uint32_t command) {
    if (!keep_stretches_) return;
    const Ticks end = account_.charged_until();
    if (end == (stretches_.empty() ? Ticks(0) : stretches_.back().end)) return;
    if (!stretches_.empty() && stretches_.back().owner == owner && stretches_.back().command == command)
        stretches_.back().end = end;
    else
        stretches_.push_back({end, command, owner});
}

}  // namespace systole::systolic
