// SPDX-License-Identifier: Apache-2.0
// How an array is set up for another dataflow.
#include <algorithm>

#include "models/devices/systolic/machine/matrix_unit.h"
#include "sim/base/check.h"

namespace systole::systolic {

/// Whether the array is set up for the command at the front of the queue. If not, it will be as soon as it
/// has run dry, whatever else the command still waits for.
bool MatrixUnit::set_up(Cycles cycle) {
    const Dataflow wanted = dataflow(queue.front());
    if (wanted != dataflow_) {
        const Cycles dry = engine_->dry();
        SYSTOLE_CHECK(dry != kNever, "{}: the array holds a tile that no pass uses", name());
        if (dry > cycle) {
            wake_at(dry);
            return false;
        }
        change(wanted, cycle);
    }
    if (set_up_.cycle > cycle) wake_at(set_up_.cycle);
    return set_up_.cycle <= cycle;
}

/// The array has run dry. Until the last sum can be read, and then until it is set up, it ramps: as with the
/// shift of a tile, it is the array itself that is not ready.
void MatrixUnit::change(Dataflow dataflow, Cycles cycle) {
    const CommandQueue::Entry& front = queue.front();
    auto& log = record_.log();
    EventId dry = CausalLog::kNone;
    if (stream_ended_.event != CausalLog::kNone) {
        const Cycles readable =
            std::max(stream_ended_.cycle, before_.done + spec_.mxu.accumulator_latency - Cycles(1));
        // Over a bus, the rows of a short tile are out sooner than its wave has gone by.
        dry = log.add(clock_.edge(std::min(readable, cycle)), stream_ended_.event, SlotClass::Ramp,
                      front.number);
    }
    const EventId begun = log.latest({front.issued, dry});
    const Ticks begin = clock_.edge(cycle);
    const EventId aligned = begun == CausalLog::kNone || log[begun].time == begin
                                ? begun
                                : log.add(begin, begun, log[begun].owner, front.number);

    const std::int64_t shifted = engine_->tiles_shifted();
    (direct() ? other_shifted_before_ : fifo_shifted_before_) =
        shifted - (direct() ? fifo_shifted_before_ : other_shifted_before_);
    engine_->set_up(dataflow);
    dataflow_ = dataflow;
    ++stats_.dataflow_switches;
    set_up_.cycle = cycle + spec_.mxu.dataflow_switch;
    set_up_.event = log.add(clock_.edge(set_up_.cycle), aligned, SlotClass::Ramp, front.number);
    register_freed_ = set_up_;
    while (!waiting_.empty() && plan_.tiles[waiting_.front().tile].switches == stats_.dataflow_switches) {
        let_in(waiting_.front().arrived, plan_.tiles[waiting_.front().tile].first_use);
        waiting_.pop_front();
    }
}

}  // namespace systole::systolic
