// SPDX-License-Identifier: Apache-2.0
// What a pass waited for since the stream before it ended, dependency by dependency: its command, each of its
// tokens, its tile, the tile's shift, its stream port, and the accumulators.
#include <algorithm>

#include "models/devices/systolic/machine/matrix_unit.h"

namespace systole::systolic {
namespace {

/// What a unit's command is to whoever waits for it: the vector unit's work, a result, a transfer's far end.
SlotClass dependency_on(const Program& program, const Command& command) {
    switch (unit_kind(command.unit)) {
        case UnitKind::Vector:
            return SlotClass::Vector;
        case UnitKind::Matrix:
            return SlotClass::Dependency;
        case UnitKind::HostOut:
        case UnitKind::LinkOut:
        case UnitKind::Store:
            return owner_of(program.transfer(command).to.place);
        default:
            return owner_of(program.transfer(command).from.place);
    }
}

}  // namespace

/// The way of a tile into the FIFO: what its transfer waited for, and then the transfer. A tile that was
/// unpacked on the way had left its source when that began.
void MatrixUnit::source_pending(const Mark& arrived, Ticks there) {
    const auto& log = record_.log();
    const auto& event = log[arrived.event];
    const Command& fetch = record_.program().commands[event.command];
    Ticks begun;
    record_.each_token(fetch, [&](const Command& awaited, EventId done) {
        pending_.outstanding(dependency_on(record_.program(), awaited), log[done].time);
        begun = std::max(begun, log[done].time);
    });
    const bool waited = work(head_->entry).unpacked && event.cause != CausalLog::kNone;
    const Ticks left = waited ? log[event.cause].time : there;
    pending_.outstanding(owner_of(record_.program().transfer(fetch).from.place), begun, left);
    if (left < there) pending_.outstanding(SlotClass::OnChip, left, there);
}

/// The tile that a pass brings, and its shift into the array.
void MatrixUnit::tile_pending() {
    const auto& log = record_.log();
    const Mark& arrived = arrived_.front();
    const Ticks there = clock_.edge(arrived.cycle);
    if (!direct()) {
        source_pending(arrived, there);
    } else if (arrived.event != CausalLog::kNone && log[arrived.event].command == head_->entry.number &&
               log[arrived.event].cause != CausalLog::kNone) {
        // Read out of the scratchpad for longer than the shift hides.
        pending_.outstanding(SlotClass::OnChip, log[log[arrived.event].cause].time, there);
    }
    const Cycles shift = std::max(arrived.cycle, register_freed_.cycle);
    if (!spec_.mxu.shadow_register) pending_.outstanding(SlotClass::Ramp, clock_.edge(register_freed_.cycle));
    pending_.outstanding(SlotClass::Ramp, clock_.edge(shift), clock_.edge(shift + Cycles(spec_.mxu.rows)));
}

/// Enters the wait of a pass that starts in `cycle`, if it waited.
void MatrixUnit::count_pending(const Pass& pass, Cycles cycle) {
    const Ticks begin = clock_.edge(stream_ended_.cycle), end = clock_.edge(cycle);
    if (begin >= end) return;
    pending_.wait(begin, end);
    const auto& log = record_.log();
    if (head_->fold == 0) {
        if (head_->entry.issued != CausalLog::kNone)
            pending_.outstanding(SlotClass::Launch, log[head_->entry.issued].time);
        record_.each_token(record_.command(head_->entry.number), [&](const Command& awaited, EventId done) {
            pending_.outstanding(dependency_on(record_.program(), awaited), log[done].time);
        });
    }
    if (set_up_.event != CausalLog::kNone) pending_.outstanding(SlotClass::Ramp, clock_.edge(set_up_.cycle));
    if (pass.new_tile && !outputs_stay()) tile_pending();
    if (port_asked_ != kNever) pending_.outstanding(SlotClass::OnChip, clock_.edge(port_asked_), end);
    // What none of these explains is the accumulators, or (os) the way out of the results before.
    if (clock_.after(pending_.settled(), Cycles(1)) <= end)
        pending_.outstanding(outputs_stay() ? SlotClass::Ramp : SlotClass::OnChip, pending_.settled(), end);
    pending_.close();
}

}  // namespace systole::systolic
