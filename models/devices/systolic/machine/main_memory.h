// SPDX-License-Identifier: Apache-2.0
// The memory behind the machine's DMA engines, met through a TLM-2.0 target socket only: our DRAM, or one of
// somebody else's behind a splitter.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "models/memory/dram.h"
#include "models/memory/splitter.h"
#include "sim/base/units.h"

namespace systole::systolic {

/// A memory to be plugged in instead of ours. Of the machine's own memory specification only the capacity
/// and the peak are then of use: say kind ideal where there is no peak to hold runs to.
struct ForeignMemory {
    SplitterSpec splitter;  ///< what it takes in one transaction, and how many at a time
    /// Binds the splitter's socket to the memory, which must outlive the machine.
    std::function<void(tlm_utils::simple_initiator_socket<Splitter>& out)> bind;
};

class MainMemory {
public:
    /// Builds the module "dram" below the module under construction; `foreign`: null for our DRAM.
    MainMemory(const DramSpec& spec, const ForeignMemory* foreign);

    /// A DMA engine's socket.
    template <class Socket>
    void serve(Socket& initiator) {
        if (own_)
            initiator.bind(own_->in);
        else
            initiator.bind(splitter_->in);
    }

    /// Ours; a failed check if it is not.
    Dram& dram();

    Bytes bytes_read() const { return own_ ? own_->bytes_read() : splitter_->bytes_read(); }
    Bytes bytes_written() const { return own_ ? own_->bytes_written() : splitter_->bytes_written(); }
    std::vector<Stat> stats();
    /// Who owned the clocks of the data buses; nothing is known of another memory's, nor of its energy.
    /// bus_account() may be asked for while transfers are under way.
    void stay_in_time() {
        if (own_) own_->stay_in_time();
    }
    BusAccount bus_account() { return own_ ? own_->bus_account() : BusAccount{}; }
    /// For a timeline; of another memory, nothing.
    void keep_traffic() {
        if (own_) own_->keep_traffic();
    }
    std::vector<CounterTrack> traffic(Ticks end) const {
        return own_ ? own_->traffic(end) : std::vector<CounterTrack>{};
    }
    void account_energy(EnergyLedger& ledger) {
        if (own_) own_->account_energy(ledger);
    }

private:
    std::optional<Dram> own_;
    std::optional<Splitter> splitter_;
};

}  // namespace systole::systolic
