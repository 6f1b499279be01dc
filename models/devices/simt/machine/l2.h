// SPDX-License-Identifier: Apache-2.0
// The L2 that all SMs share, in front of the memory. It pushes back by answering late: what it holds leaves
// through its ports and those of the SMs that asked (memory/fabric.h), what it does not hold comes from the
// memory first, once, however many ask meanwhile. Writes stay here until they make room (memory/l2_blocks.h).
//
//   in ─► blocks: held ──────────────────────────────► fabric ─► answer
//                 not held ─► requests ─► memory ─► all there ─► fabric ─► answer
//                 evicted, dirty ─► requests ─► memory
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <list>
#include <map>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/devices/simt/machine/tile_access.h"
#include "models/devices/simt/memory/fabric.h"
#include "models/devices/simt/memory/l2_blocks.h"
#include "models/devices/simt/spec/spec.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/account/byte_ledger.h"
#include "sim/account/invariants.h"
#include "sim/account/run_result.h"
#include "sim/base/clock.h"
#include "sim/kernel/payload_pool.h"

namespace systole::simt {

class L2 : public sc_core::sc_module {
public:
    /// Takes transactions with a TileAccess: accepted at once, answered when all data are at the SMs, or when
    /// it has what they wrote.
    tlm_utils::simple_target_socket<L2> in{"in"};
    tlm_utils::simple_initiator_socket<L2> memory{"memory"};

    /// Enters into `ledger` what it moves, in both directions.
    L2(sc_core::sc_module_name name, const L2Spec& spec, Hertz clock, const DramSpec& dram,
       ByteLedger& ledger);

    std::vector<Stat> stats() const;
    std::vector<EndCount> ends() const;

private:
    using Payload = tlm::tlm_generic_payload;
    /// A transaction of which bytes come from the memory.
    struct Job {
        Payload* payload;
        std::int64_t fetches = 0;  // that it still waits for, of others, too
        Bytes late, late_of_sm;    // that pass when they are there
        Ticks earliest;            // the answer, as far as what was held is concerned
    };
    using Jobs = std::list<Job>;
    /// A piece on its way from or to the memory.
    struct Piece : Payload {
        std::vector<Jobs::iterator> waiting;
        Ticks leaves;
    };

    tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void read(Payload& payload, const TileAccess& access);
    void write(Payload& payload, const TileAccess& access);
    void wait_for_others(const TileAccess::Block& block, std::int64_t& late, Jobs::iterator job);
    void ask_memory(const std::vector<SectorRange>& ranges, bool write, std::size_t layer,
                    Jobs::iterator job);
    void send_piece(std::int64_t address, std::int64_t bytes, bool write, Jobs::iterator job);
    void pump();  // SC_METHOD
    void arrived(Piece& piece);
    void answer(Payload& payload, Ticks at);
    void respond();  // SC_METHOD

    const L2Spec spec_;
    const ClockDomain clock_;
    const std::int64_t largest_;  // payload of the memory
    ByteLedger& ledger_;
    L2Blocks blocks_;
    Fabric fabric_;
    L2Blocks::Traffic traffic_;  // scratch
    Jobs jobs_;
    std::multimap<std::int64_t, Piece*> coming_;  // reads, by address
    std::deque<Piece*> unsent_;              // in the order in which they leave
    Piece* requesting_ = nullptr;
    PayloadPool<Piece> pool_;
    std::multimap<Ticks, Payload*> due_;
    sc_core::sc_event due_now_{"due_now"}, leave_now_{"leave_now"};
    std::int64_t reads_ = 0, asked_ = 0, held_ = 0, fetched_ = 0, written_back_ = 0;
};

}  // namespace systole::simt
