// SPDX-License-Identifier: Apache-2.0
// A unit whose commands are transfers: takes them from its queue in order, waits for their tokens, hands them
// to its DMA engine and reports their completion. The weight loaders are such units too; they also wait for a
// free place in their FIFO (`gate`).
#pragma once

#include <deque>
#include <functional>
#include <systemc>

#include "models/devices/systolic/machine/command_queue.h"
#include "models/devices/systolic/machine/run_record.h"
#include "models/link/dma_engine.h"

namespace systole::systolic {

class TransferUnit : public sc_core::sc_module {
public:
    CommandQueue queue;
    DmaEngine dma;

    TransferUnit(sc_core::sc_module_name name, const DmaSpec& spec, ClockDomain clock, int queue_depth,
                 RunRecord& record);

    /// A command starts only once it has claimed a place; `opened_by` is the event that freed the place
    /// claimed last, for the causal log.
    struct Gate {
        std::function<bool()> claim;
        std::function<CausalLog::EventId()> opened_by;
    };
    void set_gate(Gate gate) { gate_ = std::move(gate); }
    /// Told of every completed command, at its time; `reading`: its set-up was over.
    using Told = std::function<void(const Command&, CausalLog::EventId reading, CausalLog::EventId done)>;
    void on_complete(Told told) { told_ = std::move(told); }
    /// To be called when the gate may have opened.
    void poke() { wake_.notify(sc_core::SC_ZERO_TIME); }

private:
    struct Running {
        CommandQueue::Entry entry;
        CausalLog::EventId reading;  // set-up is over
    };
    void step();  // SC_METHOD
    void requested(DmaEngine::Split split);
    void done(DmaEngine::Split split);
    /// The event that ends a descriptor's time until now: first its source's share, then its destination's.
    CausalLog::EventId split_time(const Running& running, DmaEngine::Split split, CausalLog::EventId also);

    RunRecord& record_;
    Gate gate_;
    Told told_;
    std::deque<Running> running_;
    CausalLog::EventId last_requested_ = CausalLog::kNone, last_done_ = CausalLog::kNone;
    sc_core::sc_event wake_{"wake"};
};

/// The class that owns time spent on reaching this place.
SlotClass owner_of(Place place);

}  // namespace systole::systolic
