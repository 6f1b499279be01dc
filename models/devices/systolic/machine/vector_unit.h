// SPDX-License-Identifier: Apache-2.0
// The vector unit: lanes that drain accumulators (bias, activation function, conversion) and do everything
// that is not a matrix product. One command at a time occupies the lanes for as long as its slowest resource
// needs (lanes, scratchpad ports and banks, accumulator port); its results appear one pipeline depth later,
// while the next command already runs.
#pragma once

#include <deque>
#include <functional>
#include <systemc>

#include "models/devices/systolic/machine/command_queue.h"
#include "models/devices/systolic/machine/pattern_loads.h"
#include "models/devices/systolic/machine/run_record.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/base/clock.h"

namespace systole::systolic {

/// Cycles for which a command occupies the lanes: at least one.
Cycles occupancy(const VectorSpec& spec, const VectorWork& work);

class VectorUnit : public sc_core::sc_module {
public:
    CommandQueue queue;

    struct Stats {
        std::int64_t commands = 0, busy_cycles = 0, macs = 0, scratchpad_bytes = 0;
    };
    const Stats& stats() const { return stats_; }
    /// A command occupies the lanes in `cycle`, which is not in the past.
    bool busy(Cycles cycle) const { return cycle < free_; }

    VectorUnit(sc_core::sc_module_name name, const VectorSpec& spec, ClockDomain clock, int queue_depth,
               RunRecord& record, BankSeat seat);

    /// Told of every command that is about to drain accumulators.
    void on_drain(std::function<void(const Command&)> told) { drains_ = std::move(told); }

private:
    struct Running {
        CommandQueue::Entry entry;
        CausalLog::EventId started, lanes_free;
        Cycles done;
    };
    void step();  // SC_METHOD: start what can start
    bool its_turn();
    void start(Cycles cycle);
    Cycles in_banks(const VectorWork& work, Cycles begin, Cycles least);
    void complete();  // SC_METHOD: the oldest command's results are there
    void enter_bytes(const Command& command, const VectorWork& work);

    const VectorSpec spec_;
    const ClockDomain clock_;
    RunRecord& record_;
    const BankSeat seat_;
    std::function<void(const Command&)> drains_;
    std::deque<Running> running_;
    Cycles free_;  // the lanes
    CausalLog::EventId last_lanes_free_ = CausalLog::kNone;
    bool asked_ = false, turn_ = false;  // for a turn at the banks; and has it
    sc_core::sc_event wake_{"wake"}, done_{"done"};
    Stats stats_;
};

}  // namespace systole::systolic
