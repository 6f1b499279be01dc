// SPDX-License-Identifier: Apache-2.0
// The L2 in its first form: it keeps everything that it ever held, and writes nothing back. Reads and writes
// each share its width; a block that several SMs read passes once for each; data that are not there come from
// the memory once, however many ask meanwhile. It pushes back by answering late.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <list>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/devices/simt/machine/byte_ranges.h"
#include "models/devices/simt/machine/cta_times.h"
#include "models/devices/simt/machine/tile_access.h"
#include "models/devices/simt/spec/spec.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/account/byte_ledger.h"
#include "sim/account/invariants.h"
#include "sim/account/run_result.h"
#include "sim/kernel/payload_pool.h"

namespace systole::simt {

class L2 : public sc_core::sc_module {
public:
    /// Takes transactions with a TileAccess: accepted at once, answered when all data are at the SMs, or when
    /// it has what they wrote.
    tlm_utils::simple_target_socket<L2> in{"in"};
    tlm_utils::simple_initiator_socket<L2> memory{"memory"};

    L2(sc_core::sc_module_name name, const L2Spec& spec, Hertz clock, const DramSpec& dram,
       ByteLedger& ledger);

    std::vector<Stat> stats() const;
    std::vector<EndCount> ends() const;

private:
    using Payload = tlm::tlm_generic_payload;
    /// A transaction that waits for bytes of the memory, or only for its time.
    struct Job {
        Payload* payload;
        Ticks earliest;            // as far as its ports are concerned
        std::int64_t fetches = 0;  // of others, too
    };
    using Jobs = std::list<Job>;
    struct Fetch : Payload {
        ByteRanges::Range range;
        std::vector<Jobs::iterator> waiting;
    };

    tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    /// Of a server of `width` bytes a cycle that is free at `free`: when `bytes` more are through.
    Ticks through(Fine& free, std::int64_t bytes, Bytes width) const;
    Fine cycles(std::int64_t count) const { return fine_cycles(static_cast<double>(count), clock_); }
    void read(const TileAccess& access, const TileAccess::Block& block, Jobs::iterator job);
    void fetch(ByteRanges::Range range, Jobs::iterator job);
    void pump();
    void fetched(Fetch& fetch);
    void answer(Jobs::iterator job, Ticks at);
    void respond();  // SC_METHOD

    const L2Spec spec_;
    const Hertz clock_;
    const std::int64_t largest_;  // payload of the memory
    ByteLedger& ledger_;
    Fine read_free_, write_free_;
    ByteRanges there_;
    Jobs jobs_;
    std::list<Fetch*> on_their_way_;
    std::deque<Fetch*> unsent_;
    Fetch* requesting_ = nullptr;
    PayloadPool<Fetch> pool_;
    std::multimap<Ticks, Payload*> due_;
    sc_core::sc_event due_now_{"due_now"};
    std::int64_t reads_ = 0, read_bytes_ = 0, write_bytes_ = 0, fetched_bytes_ = 0, asked_bytes_ = 0;
};

}  // namespace systole::simt
