// SPDX-License-Identifier: Apache-2.0
// Ways between the dies of a chip and what they share: transactions go on at once to one of several targets,
// and answers back to one of several initiators, as their TileAccess says. It takes no time and holds nothing
// back: ports and latencies are those of the caches at its ends.
//
//   Mmu ─► in │ by the die of the SMs that ask │ out[die] ─► L2 of the die
//   L2s ─► in[die] │ │ out ─► memory-side cache
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

#include "models/devices/simt/machine/tile_access.h"

namespace systole::simt {

class DieNetwork : public sc_core::sc_module {
public:
    /// The approximately-timed base protocol, without time annotation. Behind `out` requests must be accepted
    /// at once. Either `in` or `out` is bound as often as there are dies, in their order, the other one once.
    tlm_utils::multi_passthrough_target_socket<DieNetwork> in{"in"};
    tlm_utils::multi_passthrough_initiator_socket<DieNetwork> out{"out"};

    /// `askers`: numbers of TileAccess::sm that one die has.
    DieNetwork(sc_core::sc_module_name name, std::int64_t askers);

private:
    using Payload = tlm::tlm_generic_payload;

    std::int64_t die_of(const Payload& payload) const;
    tlm::tlm_sync_enum nb_transport_fw(int from, Payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay);
    tlm::tlm_sync_enum nb_transport_bw(int from, Payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay);

    const std::int64_t askers_;
};

}  // namespace systole::simt
