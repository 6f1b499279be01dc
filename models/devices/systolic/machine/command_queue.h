// SPDX-License-Identifier: Apache-2.0
// The queue between the sequencer and one unit. When it is full (never with a depth of kUnboundedQueue) the
// sequencer stands still: this is how a unit pushes back. Each entry remembers the event that issued it, each
// removal the event that made room.
#pragma once

#include <deque>
#include <systemc>

#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/account/causal_log.h"

namespace systole::systolic {

class CommandQueue {
public:
    struct Entry {
        std::uint32_t number;  ///< of the command, in the program that runs
        CausalLog::EventId issued;
    };

    explicit CommandQueue(int depth) : depth_(depth) {}

    bool full() const { return depth_ != kUnboundedQueue && size() == static_cast<std::size_t>(depth_); }
    bool empty() const { return entries_.empty(); }
    std::size_t size() const { return entries_.size(); }
    const Entry& front() const { return entries_.front(); }

    void push(const Entry& entry) {
        entries_.push_back(entry);
        pushed.notify(sc_core::SC_ZERO_TIME);
    }
    /// Removes the oldest command, which `started` has set to work.
    Entry pop(CausalLog::EventId started) {
        const Entry entry = entries_.front();
        entries_.pop_front();
        last_start_ = started;
        popped.notify(sc_core::SC_ZERO_TIME);
        return entry;
    }
    /// What made room last.
    CausalLog::EventId last_start() const { return last_start_; }

    sc_core::sc_event pushed, popped;

private:
    int depth_;
    std::deque<Entry> entries_;
    CausalLog::EventId last_start_ = CausalLog::kNone;
};

}  // namespace systole::systolic
