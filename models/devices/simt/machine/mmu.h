// SPDX-License-Identifier: Apache-2.0
// Translation between the SMs and the L2: SMs of a GPC share a TLB. A request whose pages are all there
// passes at once; any other leaves when the last of them is known, which a miss delays. It pushes back by
// nothing else: misses do not wait for each other.
//
//   SmArray ─► in: transactions with a TileAccess ─► TLBs of the GPCs ─► out ─► L2
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/devices/simt/machine/tile_access.h"
#include "models/devices/simt/memory/tlb.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/account/run_result.h"
#include "sim/base/clock.h"

namespace systole::simt {

class Mmu : public sc_core::sc_module {
public:
    /// Target and initiator of the approximately-timed base protocol, without time annotation. Behind `out`
    /// requests must be accepted at once.
    tlm_utils::simple_target_socket<Mmu> in{"in"};
    tlm_utils::simple_initiator_socket<Mmu> out{"out"};

    /// `clock`: that of SMs and L2.
    Mmu(sc_core::sc_module_name name, const TlbSpec& spec, const SmSpec& sms, Hertz clock);

    std::vector<Stat> stats() const;

private:
    using Payload = tlm::tlm_generic_payload;
    struct Late {
        Ticks at;
        Payload* payload;
    };

    /// When the TLBs of all SMs that ask know all pages.
    Ticks translated(const TileAccess& access);
    tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void leave();  // SC_METHOD: what was translated by now

    const TlbSpec spec_;
    const ClockDomain clock_;
    std::vector<std::int64_t> ends_;  // of GPCs: the SM behind the last one's number
    std::vector<Tlb> tlbs_;           // of GPCs; none where pages are always known
    std::deque<Late> late_;           // in the order of time
    sc_core::sc_event leave_at_{"leave_at"};
    std::int64_t uses_ = 0, misses_ = 0, delayed_ = 0;
};

}  // namespace systole::simt
