// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/matrix_account.h"

#include <algorithm>

namespace systole::systolic {

void MatrixAccount::pass(const CausalLog& log, CausalLog::EventId started, Cycles start, Cycles vectors,
                         Cycles stream_end, Cycles done, std::int64_t slots, std::int64_t useful) {
    charge_wait(log, started, slots, false);
    account_.fill_split(clock_.edge(start + vectors), slots, useful, slots - useful, SlotClass::Padding);
    account_.fill(clock_.edge(stream_end), SlotClass::OnChip, slots);
    drained_ = clock_.edge(done);
    slots_ = slots;
}

void MatrixAccount::finish(const CausalLog& log, CausalLog::EventId last) {
    if (last != CausalLog::kNone) charge_wait(log, last, slots_, true);
}

void MatrixAccount::charge_wait(const CausalLog& log, CausalLog::EventId until, std::int64_t slots,
                                bool over) {
    const Ticks end = log[until].time;
    account_.fill(std::clamp(drained_, account_.charged_until(), std::max(end, account_.charged_until())),
                  SlotClass::Ramp, slots);
    for (const auto& piece : log.explain(until, account_.charged_until())) {
        const bool matrix_work = piece.owner == SlotClass::Dependency || piece.owner == SlotClass::Ramp;
        account_.fill(piece.end, over && matrix_work ? SlotClass::Tail : piece.owner, slots);
    }
}

}  // namespace systole::systolic
