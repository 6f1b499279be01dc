// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/matrix_account.h"

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
    for (const auto& piece : log.explain(until, account_.charged_until())) {
        const bool own_drain = piece.owner == SlotClass::Ramp && piece.end <= drained_;
        const bool matrix_work = piece.owner == SlotClass::Dependency || piece.owner == SlotClass::Ramp;
        account_.fill(piece.end, over && matrix_work && !own_drain ? SlotClass::Tail : piece.owner, slots);
    }
}

}  // namespace systole::systolic
