// SPDX-License-Identifier: Apache-2.0
// The accelerator, assembled: every unit of the specification as a SystemC module under one root, bound
// through TLM-2.0 sockets, with one program to run. Lives for one run on one fresh kernel. The units of a
// single core lie right below the root, those of several below modules core0, core1, ...
//
//   cores (core.h) ◄─► dram (all channels), or another memory
//                  ◄─► host_link
//                  ◄─► chip_link, if there is one
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "models/devices/systolic/machine/core.h"
#include "models/devices/systolic/machine/main_memory.h"
#include "models/devices/systolic/machine/run_record.h"
#include "models/devices/systolic/spec/spec.h"
#include "models/link/chip_link.h"
#include "models/link/host_link.h"
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
    HostLink host_link;
    std::unique_ptr<ChipLink> chip_link;  ///< to other chips; nothing on a machine without
    std::vector<std::shared_ptr<Core>> cores;

    /// On the PE grid: the first drained sum that was wrong.
    std::optional<std::string> value_fault;

    /// Matrix units of all cores, core by core.
    std::vector<const MatrixUnit*> mxus() const;
    /// Multiply-accumulates of operators that the vector units did.
    std::int64_t vector_macs() const;

    /// Counters of all units.
    std::vector<Stat> stats();
    /// What every place that counts for itself has seen pass; places of the cores are one.
    std::vector<EndCount> ends() const;
    /// Who owned the clocks of the memory's data buses; nothing, if no bus is known.
    std::vector<BusClocks> memory_bus();

    /// A program to go on with, and the layers after which it is marked: those so far first.
    struct Other {
        const Program* program;  ///< outlives the machine, or its going on with another
        std::vector<std::size_t> marks;
    };
    /// Asked at each mark. The program is the one that runs but for commands from `issued` on, of which none
    /// is issued yet; there it begins with a command for the same unit of the same core.
    using GoOnWith = std::function<std::optional<Other>(const std::vector<Mark>& met, std::size_t issued)>;

    /// Keeps whose the time was when the first so many layers have ended, for each of these ascending
    /// numbers.
    void mark_after(const std::vector<std::size_t>& layers, GoOnWith go_on_with = nullptr);
    /// Those kept so far; what is known only at the end of the run is left to the results.
    const std::vector<Mark>& marks() const { return marks_; }

private:
    void add_core(int index, Protocol::Launch launch);
    void check_drains(const Program& program);
    std::vector<std::string> waits() const;
    void mark();  // SC_METHOD

    const SystolicSpec& spec_;
    std::vector<Mark> marks_;
    GoOnWith go_on_with_;
    std::size_t to_skip_ = 0;  // layers that end, and are no longer marked
    sc_core::sc_event_queue layers_ended_{"layers_ended"};
};

/// The memory of the specification as this run finds it: how far its refresh is.
DramSpec memory_of(const SystolicSpec& spec, const Protocol& protocol);

}  // namespace systole::systolic
