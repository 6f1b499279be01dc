// SPDX-License-Identifier: Apache-2.0
// The GPU, assembled: SMs, L2, memory, host link and the engine that copies between the latter two, bound
// through TLM-2.0 sockets, with one plan to run. Lives for one run on one fresh kernel.
//
//   sms ─► mmu ─► caches ─► dram ◄─ copy_in, copy_out ─► host_link
//    └──► to_chips ─► chip_link, if there is one
//
// Inputs at the host are copied before the first kernel is launched, outputs after the last one is complete.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "models/devices/simt/machine/caches.h"
#include "models/devices/simt/machine/chip_port.h"
#include "models/devices/simt/machine/cta_sample.h"
#include "models/devices/simt/machine/mmu.h"
#include "models/devices/simt/machine/sm_array.h"
#include "models/devices/simt/spec/spec.h"
#include "models/link/chip_link.h"
#include "models/link/dma_engine.h"
#include "models/link/host_link.h"
#include "models/memory/dram.h"
#include "sim/account/invariants.h"
#include "sim/account/repeated_turn.h"
#include "sim/device/device.h"

namespace systole::simt {

class Chip : public sc_core::sc_module {
public:
    Chip(sc_core::sc_module_name name, const SimtSpec& spec, const ChipPlan& plan, const RunOptions& options);

    /// A plan to go on with, whose layers that are complete are those of the one that ran and which must
    /// outlive the chip's run, and the layers after which it is marked: those so far first.
    struct Other {
        const ChipPlan* plan;
        std::vector<std::size_t> marks;
    };
    /// Asked at each mark: nothing goes on as it is.
    using GoOnWith = std::function<std::optional<Other>(const std::vector<Mark>& met)>;
    /// Has what was counted until then kept when so many layers each, ascending, are complete.
    void mark_after(std::vector<std::size_t> layers, GoOnWith go_on_with);
    /// Some CTAs of a kernel of the plan, which has one layer, may stand for others; `sample` must outlive
    /// the run.
    void sample_ctas(CtaSample& sample);
    /// Without what only rows of layers know (layers, critical path, compulsory bytes).
    const std::vector<Mark>& marks() const { return marks_; }

    /// Runs the plan to its end; throws Stuck if it stands still before.
    void run();

    const ClockDomain clock;
    ByteLedger ledger;
    Dram dram;
    Caches caches;
    Mmu mmu;
    std::unique_ptr<ChipLink> chip_link;  ///< nothing on a device without
    std::unique_ptr<ChipPort> to_chips;
    SmArray sms;
    HostLink host_link;
    DmaEngine copy_in, copy_out;

    /// A copy from or to the host, from when the engine took it until all of it was there.
    struct Copy {
        bool in;
        Operand operand;
        Bytes bytes;
        Ticks begin, end;
    };
    /// In the order in which they were complete; none without a timeline.
    const std::vector<Copy>& copies() const { return copies_; }

    /// When inputs were in memory; when all kernels were complete; when outputs were at the host.
    Ticks copied_in() const { return copied_in_; }
    Ticks computed() const { return computed_; }
    Ticks end() const { return end_; }

    std::vector<Stat> stats();
    /// What every place that counts for itself has seen pass.
    std::vector<EndCount> ends() const;
    std::vector<BusClocks> memory_bus();

private:
    /// What one engine still has to copy.
    struct Copies {
        std::deque<Transfer> left;
        std::size_t layer = 0;             // of which they are
        std::deque<Ticks> under_way = {};  // since when
    };

    static Copies copies_out(const ChipPlan& plan);
    void begin();  // SC_METHOD
    void give(DmaEngine& engine, Copies& copies);
    /// The engine's oldest copy is complete.
    bool arrived(Copies& copies, const std::vector<Transfer>& all);
    /// For a timeline.
    void keep_times();
    DmaEngine::Listener listener_in();
    DmaEngine::Listener listener_out();
    void compute();
    void bring_back();
    void mark(const GoOnWith& go_on_with);
    Mark counted_now();

    const SimtSpec& spec_;
    const ChipPlan* plan_;
    Copies in_, out_;
    Ticks copied_in_, computed_, end_;
    std::vector<std::size_t> to_mark_;
    std::vector<Mark> marks_;
    bool done_ = false;
    bool keeps_times_ = false;
    std::vector<Copy> copies_;
};

}  // namespace systole::simt
