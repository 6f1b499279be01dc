// SPDX-License-Identifier: Apache-2.0
// What stands before a memory of somebody else's: takes transactions of any size from any number of
// initiators, cuts them at multiples of the memory's largest (DRAMSys, for one, takes single bursts), and
// answers each when its last piece is. Several pieces are under way at once, in the order of their requests;
// a request's END_REQ comes when the memory has accepted its last piece, so back-pressure passes through.
//
// Both sides speak the approximately-timed base protocol. The memory may annotate times, accept a piece late,
// answer without END_REQ or at once; one that has only b_transport behind tlm_utils::simple_target_socket is
// served, too. Initiators must not annotate.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <cstdint>
#include <deque>
#include <list>
#include <systemc>
#include <tlm>
#include <vector>

#include "sim/base/units.h"
#include "sim/kernel/payload_pool.h"

namespace systole {

struct SplitterSpec {
    Bytes largest{64};    ///< of a piece; the memory's burst, or what its sockets take. A power of two
    int in_flight = 256;  ///< pieces that the memory has not answered yet, at most
};

class Splitter : public sc_core::sc_module {
public:
    /// As of Dram::in, with transactions of any size; a range is refused only where it would wrap around.
    tlm_utils::multi_passthrough_target_socket<Splitter> in{"in"};
    tlm_utils::simple_initiator_socket<Splitter> out{"out"};

    Splitter(sc_core::sc_module_name name, const SplitterSpec& spec);

    /// Payload bytes of all answered reads and writes.
    Bytes bytes_read() const { return bytes_read_; }
    Bytes bytes_written() const { return bytes_written_; }
    /// Pieces answered by the memory.
    std::int64_t pieces() const { return pieces_; }
    /// Every request was answered.
    bool idle() const { return requests_.empty(); }

private:
    using Payload = tlm::tlm_generic_payload;

    struct Request {
        Payload* payload;
        int initiator;
        sc_core::sc_event* done;   // a b_transport that waits, instead of phases
        std::uint64_t sent = 0;    // bytes given to pieces
        std::int64_t pending = 0;  // pieces not answered
        tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    };
    using Requests = std::list<Request>;
    struct Piece : Payload {
        Requests::iterator request;
        bool completed = false;  // the memory wants no END_RESP
    };
    struct Port {
        std::deque<Payload*> responses;
        bool busy = false;  // a BEGIN_RESP waits for its END_RESP
    };

    void end_of_elaboration() override { ports_.resize(in.size()); }
    tlm::tlm_sync_enum from_initiator(int initiator, Payload& payload, tlm::tlm_phase& phase,
                                      sc_core::sc_time& delay);
    void b_transport(int initiator, Payload& payload, sc_core::sc_time& delay);
    static bool refuse(Payload& payload);
    void enter(Payload& payload, int initiator, sc_core::sc_event* done);

    void step();  // SC_METHOD: sends pieces while the memory takes them, then responses
    void send_piece();
    Piece* next_piece(Requests::iterator request);
    void accepted();
    tlm::tlm_sync_enum from_memory(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void heard(Payload& payload, const tlm::tlm_phase& phase);
    void answered(Piece& piece);
    void finish(Requests::iterator request);
    void send_responses(int initiator);

    const SplitterSpec spec_;
    std::vector<Port> ports_;                // per initiator
    Requests requests_;                      // not answered
    std::deque<Requests::iterator> unsent_;  // not wholly given to pieces, or the last piece not accepted
    Piece* requesting_ = nullptr;            // sent, and not accepted yet
    int under_way_ = 0;                      // pieces
    PayloadPool<Piece> pool_;
    tlm_utils::peq_with_cb_and_phase<Splitter> heard_{this, &Splitter::heard};
    sc_core::sc_event wake_{"wake"};
    Bytes bytes_read_, bytes_written_;
    std::int64_t pieces_ = 0;
};

}  // namespace systole
