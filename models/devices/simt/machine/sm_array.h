// SPDX-License-Identifier: Apache-2.0
// All SMs of the chip, step by step or in warps: runs a plan's kernels one behind the other, each from the
// time at which all stores of the one before were answered, and its launch is over. It pushes back by
// waiting: data come when the L2 answers, and stores end a kernel only when it has taken them.
//
//   ChipPlan ─► KernelRun (CTAs on groups of alike SMs) or KernelInWarps ─► out: one transaction with a
//   TileAccess for what a group asks at a time ─► L2
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/machine/chip_port.h"
#include "models/devices/simt/machine/clock_control.h"
#include "models/devices/simt/machine/cta_work.h"
#include "models/devices/simt/machine/kernel_execution.h"
#include "models/devices/simt/machine/sm_counters.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/account/run_result.h"
#include "sim/device/work_done.h"
#include "sim/kernel/payload_pool.h"

namespace systole::simt {

class SmArray : public sc_core::sc_module {
public:
    /// Initiator of the approximately-timed base protocol; one request at a time is without its END_REQ.
    tlm_utils::simple_initiator_socket<SmArray> out{"out"};

    /// A kernel that is complete. Layers' kernels follow each other without gaps.
    struct Record {
        std::size_t layer = 0;
        Ticks launched, begin, end;  ///< launched: the end of what was before it
        Hertz clock;                 ///< of the SMs
        KernelAccount account;
    };

    /// `launch`: of every kernel but collectives. `moved`: bytes to and from the memory until now.
    /// `to_chips`: null where there are none. `plan` must outlive it.
    SmArray(sc_core::sc_module_name name, const SimtSpec& spec, const ChipPlan& plan, Ticks launch,
            std::function<Bytes()> moved, ChipPort* to_chips = nullptr);

    /// Launches the first kernel now; `done` is told when the last one is complete.
    void start(std::function<void()> done);
    const std::vector<Record>& records() const { return records_; }
    /// For a timeline, before the first kernel: records keep what the time of SMs went to, in about so many
    /// pieces a kernel at most.
    void keep_histories(std::size_t pieces) {
        pieces_ = pieces;
        counters_.emplace();
    }
    /// CTAs on an SM and bytes between SMs and the L2, over time until `end`; nothing if nothing was kept.
    std::vector<CounterTrack> counters(Ticks end) const {
        return counters_ ? counters_->tracks(name(), spec_.sm.count, end) : std::vector<CounterTrack>{};
    }
    /// From now on tells of kernels and CTAs that are through.
    void tell(WorkDone& work_done) {
        work_done_ = &work_done;
        work_done.begin_run();
    }
    /// Tells when the kernels of so many layers, from the first on, are complete.
    void on_layers(std::function<void(std::size_t layers)> listener) { layers_done_ = std::move(listener); }
    /// Asked whenever CTAs of a kernel got places (the number of kernels before it is `kernel`): of the next
    /// ones, so many are left out.
    void on_ctas(std::function<std::int64_t(std::size_t kernel, const KernelExecution& run)> listener) {
        ctas_begun_ = std::move(listener);
    }
    /// Between kernels: those of `plan` follow behind as many as are complete, which are the same in it.
    void go_on_with(const ChipPlan& plan);
    /// What else is to be done when a kernel's stores are answered, before it is complete: `done` goes on.
    void on_kernel_stored(std::function<void(std::function<void()> done)> what) {
        behind_stores_ = std::move(what);
    }
    /// Tells of the clock that the next kernel has.
    void on_clock(std::function<void(Hertz)> listener) { clocked_ = std::move(listener); }
    /// See ClockControl.
    bool at_ease() const { return clock_.at_ease(); }
    /// Every kernel is complete.
    bool finished() const { return records_.size() == kernels_.size(); }
    /// What it stands at: "sms: kernel 0 of 'fc1', 12 of 1,024 CTAs given".
    std::string wait() const;
    std::vector<Stat> stats() const;

private:
    struct Kernel {
        std::size_t layer;
        const KernelPlan* plan;
    };
    struct Payload : tlm::tlm_generic_payload {
        TileAccess tiles;
        std::int64_t number = 0;
        Ticks sent;
        ~Payload() override { clear_extension(&tiles); }
    };

    void list_kernels();
    void step();  // SC_METHOD
    void launch();
    bool begins_run() const;
    bool begins_turn() const;
    double tensor_cycles(std::size_t layer, std::int64_t macs) const;
    ClockControl::Expected expected_of(const Kernel& kernel) const;
    void tell_share() const;
    void begin_kernel();
    std::unique_ptr<KernelExecution> execution_of(const KernelPlan& plan);
    void send_accesses();
    void exchange(const KernelExecution::Access& access);
    void stored();
    void finish_kernel();
    void pump();
    void answered(Payload& payload);
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay);

    const SimtSpec& spec_;
    const ChipPlan* plan_;
    const Ticks launch_;
    const std::function<Bytes()> moved_;
    ChipPort* const to_chips_;
    std::function<void()> done_;
    std::function<void(std::size_t)> layers_done_;
    std::function<void(std::function<void()>)> behind_stores_;
    std::function<void(Hertz)> clocked_;
    std::function<std::int64_t(std::size_t, const KernelExecution&)> ctas_begun_;
    enum class Behind : std::uint8_t { Not, Waits, Done } behind_ = Behind::Not;
    std::vector<Kernel> kernels_;
    std::vector<Record> records_;
    ClockControl clock_;
    Ticks launched_, begin_;  // of the kernel that is launched, or runs
    std::unique_ptr<CtaWork> work_;
    std::unique_ptr<KernelExecution> run_;
    std::size_t pieces_ = 0;  // of histories; 0: none
    std::optional<SmCounters> counters_;
    WorkDone* work_done_ = nullptr;
    std::vector<KernelExecution::Access> accesses_;  // scratch
    std::deque<Payload*> waiting_;
    Payload* requesting_ = nullptr;
    PayloadPool<Payload> pool_;
    sc_core::sc_event wake_{"wake"};
};

}  // namespace systole::simt
