// SPDX-License-Identifier: Apache-2.0
// The instruction sequencer of a core: issues the core's part of the program in order, one command every
// `issue_cycles` of the core clock, into the queue of the command's unit, and stands still while that queue
// is full. Launches, where the protocol asks for them, are paid here.
#pragma once

#include <systemc>
#include <vector>

#include "models/devices/systolic/machine/command_queue.h"
#include "models/devices/systolic/machine/run_record.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/base/clock.h"
#include "sim/device/device.h"

namespace systole::systolic {

class Sequencer : public sc_core::sc_module {
public:
    struct Stats {
        std::int64_t issued = 0, launches = 0;
    };
    const Stats& stats() const { return stats_; }
    /// The number in the program of the command to be issued next; its length when all are.
    std::size_t next_command() const { return next_; }
    /// The number of the command that was issued last, and one more.
    std::size_t issued_end() const { return issued_end_; }
    /// Goes on with the program that the record has now: it is the same up to issued_end().
    void go_on();
    /// A command should have left before `now` but its queue is full.
    bool blocked(Ticks now) const { return fetched_ && issue_time_ < now; }

    /// `queues` of the core by UnitIndex, counted from its first unit.
    Sequencer(sc_core::sc_module_name name, const SequencerSpec& spec, ClockDomain clock,
              Protocol::Launch launch, int core, RunRecord& record, std::vector<CommandQueue*> queues);

private:
    void issue();  // SC_METHOD
    /// Passes over commands of other cores.
    void find_next();
    /// The time at which the next command leaves, launch included.
    Ticks next_issue_time();

    const SequencerSpec spec_;
    const ClockDomain clock_;
    const Protocol::Launch launch_;
    const int core_;
    RunRecord& record_;
    const std::vector<CommandQueue*> queues_;
    std::size_t next_ = 0;        // command to issue
    std::size_t issued_end_ = 0;  // behind the last that was
    bool fetched_ = false;        // issue time of `next_` is known
    Ticks issue_time_;
    std::int32_t launched_layer_ = -1;
    CausalLog::EventId last_ = CausalLog::kNone;
    Stats stats_;
};

}  // namespace systole::systolic
