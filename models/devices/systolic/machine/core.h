// SPDX-License-Identifier: Apache-2.0
// One core of the chip: a sequencer that issues the core's commands in order, and what it issues them to. All
// of it is the core's own; memory, host link and chip link it shares with the others.
//
//   sequencer ─► queues ─► host_in, host_out ◄─► host link
//                          link_in, link_out ◄─► chip link: of the first core, if there is one
//                          load, store       ◄─► dram, scratchpad    scratchpad (DMA and weight ports)
//                          mxuN.weights      ──► weight FIFO of mxuN (from dram or scratchpad)
//                          mxuN              ◄── stream ports of the scratchpad
//                          vector            ◄─► accumulators, scratchpad
#pragma once

#include <memory>
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
#include "sim/device/device.h"

namespace systole::systolic {

/// Builds its modules below the module under construction.
class Core {
public:
    /// What the cores of a chip share.
    struct Shared {
        ClockDomain clock;
        RunRecord& record;
        MainMemory& memory;
        HostLink& host_link;
        ChipLink* chip_link;  ///< nothing on a machine without
    };

    Core(const SystolicSpec& spec, int index, Protocol::Launch launch, const Shared& shared);

    const int index;
    Scratchpad scratchpad;
    PatternLoads loads;
    TransferUnit host_in, host_out, load, store;
    /// DMA engines of the link to other chips.
    struct Link {
        TransferUnit in, out;
        Link(const SystolicSpec& spec, const Shared& shared);
    };
    std::unique_ptr<Link> link;  ///< nothing on cores without
    VectorUnit vector;
    std::vector<std::unique_ptr<MatrixUnit>> mxus;

    const Sequencer& sequencer() const { return *sequencer_; }
    /// Goes on with the program that the record has now: it is the same but for commands not yet issued.
    void go_on();
    /// All units of transfers but the weight loaders.
    std::vector<const TransferUnit*> transfer_units() const;
    /// Counters of all units.
    std::vector<Stat> stats() const;
    /// For the standstill report: what every unit waits for.
    void waits(std::vector<std::string>& lines) const;

private:
    std::vector<CommandQueue*> queues(const SystolicSpec& spec);
    void bind(const Shared& shared);

    const RunRecord& record_;
    std::unique_ptr<Sequencer> sequencer_;
};

}  // namespace systole::systolic
