// SPDX-License-Identifier: Apache-2.0
// The SMs' way to other chips: what they send leaves through `out`, what others send comes through `in`. It
// pushes back by answering late: both are answered when the last byte has arrived, here and there.
//
//   SmArray ─► exchange() ─► out, in ─► ChipLink
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>

#include "sim/account/byte_ledger.h"
#include "sim/base/units.h"
#include "sim/kernel/payload_pool.h"

namespace systole::simt {

class ChipPort : public sc_core::sc_module {
public:
    /// Initiators of the approximately-timed base protocol, for targets that accept a request at once.
    tlm_utils::simple_initiator_socket<ChipPort> out{"out"}, in{"in"};

    ChipPort(sc_core::sc_module_name name, ByteLedger& ledger);

    /// Sends and receives now; `done` is told, not before this returns, when all of both has arrived.
    void exchange(std::size_t layer, Bytes sent, Bytes received, std::function<void()> done);

private:
    struct Payload : tlm::tlm_generic_payload {
        std::size_t layer = 0;
        std::shared_ptr<std::function<void()>> done;  // that of both halves; the last one calls it
    };
    using Socket = tlm_utils::simple_initiator_socket<ChipPort>;

    void send(Socket& socket, tlm::tlm_command command, std::size_t layer, Bytes bytes,
              const std::shared_ptr<std::function<void()>>& done);
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay);

    ByteLedger& ledger_;
    PayloadPool<Payload> pool_;
};

}  // namespace systole::simt
