// SPDX-License-Identifier: Apache-2.0
// The accelerator, assembled: every unit of the specification as a SystemC module under one root, bound
// through TLM-2.0 sockets, with one program to run. Lives for one run on one fresh kernel.
//
//   sequencer ─► queues ─► host_in, host_out ◄─► host link          dram (all channels), or another memory
//                          link_in, link_out ◄─► chip link, if there is one
//                          load, store       ◄─► dram, scratchpad    scratchpad (DMA and weight ports)
//                          mxuN.weights      ──► weight FIFO of mxuN (from dram or scratchpad)
//                          mxuN              ◄── stream ports of the scratchpad
//                          vector            ◄─► accumulators, scratchpad
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "models/devices/systolic/machine/main_memory.h"
#include "models/devices/systolic/machine/matrix_unit.h"
#include "models/devices/systolic/machine/pattern_loads.h"
#include "models/devices/systolic/machine/run_record.h"
#include "models/devices/systolic/machine/sequencer.h"
#include "models/devices/systolic/machine/transfer_unit.h"
#include "models/devices/systolic/machine/vector_unit.h"
#include "models/devices/systolic/spec/spec.h"
#include "models/link/chip_link.h"
#include "models/link/host_link.h"
#include "models/memory/scratchpad/scratchpad.h"
#include "sim/account/repeated_turn.h"
#include "sim/device/device.h"

namespace systole::systolic {

class Machine : public sc_core::sc_module {
public:
    SC_HAS_PROCESS(Machine);

    /// `foreign`: a memory to be used instead of the specification's.
    Machine(sc_core::sc_module_name name, const SystolicSpec& spec, const Program& program,
            const RunOptions& options, const ForeignMemory* foreign = nullptr);

    /// Runs the program to its end; throws Stuck if it stands still before. Closes all accounts.
    void run();

    ClockDomain clock;
    RunRecord record;
    MainMemory memory;
    Scratchpad scratchpad;
    PatternLoads loads;
    HostLink host_link;
    TransferUnit host_in, host_out, load, store;
    /// The link to other chips and its two DMA engines.
    struct Chips {
        Chips(const SystolicSpec& spec, ClockDomain clock, RunRecord& record);
        ChipLink link;
        TransferUnit in, out;
    };
    std::unique_ptr<Chips> chips;  ///< nothing on a machine without
    VectorUnit vector;
    std::vector<std::unique_ptr<MatrixUnit>> mxus;

    /// On the PE grid: the first drained sum that was wrong.
    std::optional<std::string> value_fault;

    const Sequencer& sequencer() const { return *sequencer_; }
    /// All units of transfers but the weight loaders.
    std::vector<const TransferUnit*> transfer_units() const;

    /// Counters of all units.
    std::vector<Stat> stats();
    /// What every place that counts for itself has seen pass.
    std::vector<EndCount> ends() const;
    /// Who owned the clocks of the memory's data buses; nothing, if no bus is known.
    std::vector<BusClocks> memory_bus();

    /// Keeps whose the time was when the first so many layers have ended, for each of these numbers.
    void mark_after(const std::vector<std::size_t>& layers);
    /// Those kept so far; what is known only at the end of the run is left to the results.
    const std::vector<Mark>& marks() const { return marks_; }

private:
    std::vector<CommandQueue*> queues();
    void bind();
    std::vector<std::string> waits() const;
    void mark();  // SC_METHOD

    const SystolicSpec& spec_;
    std::unique_ptr<Sequencer> sequencer_;
    std::vector<Mark> marks_;
    sc_core::sc_event_queue layers_ended_{"layers_ended"};
};

/// The memory of the specification as this run finds it: how far its refresh is.
DramSpec memory_of(const SystolicSpec& spec, const Protocol& protocol);

}  // namespace systole::systolic
