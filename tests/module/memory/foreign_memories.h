// SPDX-License-Identifier: Apache-2.0
// Memories that are not ours: they take single bursts through one TLM-2.0 target socket, as other simulators'
// do. One is approximately timed with a bounded queue, one has b_transport only.
#pragma once

#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_target_socket.h>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

#include "sim/base/units.h"
#include "sim/kernel/kernel.h"

namespace systole::test {

/// A piece as a foreign memory saw it.
struct SeenPiece {
    std::uint64_t address;
    unsigned bytes;
    bool write;
    const unsigned char* data;
};

/// Accepts a burst every `interval` (0: at once), END_REQ coming late, and answers it `latency` after that,
/// any number of them at a time. Bursts at `broken` are answered with an error.
class BurstMemory : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<BurstMemory> in{"in"};
    std::vector<SeenPiece> seen;
    std::uint64_t broken = ~std::uint64_t{0};
    int under_way = 0, most_under_way = 0;

    BurstMemory(sc_core::sc_module_name name, Ticks latency, Ticks interval)
        : sc_module(name), latency_(latency), interval_(interval) {
        in.register_nb_transport_fw(this, &BurstMemory::forward);
        SC_HAS_PROCESS(BurstMemory);
        SC_METHOD(accept);
        sensitive << accept_.get_event();
        dont_initialize();
        SC_METHOD(respond);
        sensitive << due_.get_event() << next_;
        dont_initialize();
    }

private:
    using Payload = tlm::tlm_generic_payload;

    tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
        if (phase == tlm::END_RESP) {
            responding_ = false;
            next_.notify(sc_core::SC_ZERO_TIME);
            return tlm::TLM_COMPLETED;
        }
        seen.push_back(
            {payload.get_address(), payload.get_data_length(), payload.is_write(), payload.get_data_ptr()});
        most_under_way = std::max(most_under_way, ++under_way);
        payload.acquire();
        if (interval_ > Ticks(0)) {
            accept_.notify(payload, to_sc_time(interval_));
            return tlm::TLM_ACCEPTED;
        }
        due_.notify(payload, to_sc_time(latency_));
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void accept() {
        while (Payload* payload = accept_.get_next_transaction()) {
            tlm::tlm_phase phase = tlm::END_REQ;
            sc_core::sc_time delay;
            in->nb_transport_bw(*payload, phase, delay);
            due_.notify(*payload, to_sc_time(latency_));
        }
    }
    /// One response at a time: the next when the initiator has ended the last.
    void respond() {
        while (Payload* payload = due_.get_next_transaction()) answers_.push_back(payload);
        while (!responding_ && !answers_.empty()) {
            Payload* payload = answers_.front();
            answers_.pop_front();
            payload->set_response_status(payload->get_address() == broken ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                                          : tlm::TLM_OK_RESPONSE);
            tlm::tlm_phase phase = tlm::BEGIN_RESP;
            sc_core::sc_time delay;
            --under_way;
            responding_ = in->nb_transport_bw(*payload, phase, delay) == tlm::TLM_ACCEPTED;
            payload->release();
        }
    }

    const Ticks latency_, interval_;
    tlm_utils::peq_with_get<Payload> accept_{"accepting"}, due_{"due"};
    std::deque<Payload*> answers_;
    bool responding_ = false;
    sc_core::sc_event next_;
};

/// One burst after another, each annotated with its latency.
class BlockingMemory : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<BlockingMemory> in{"in"};
    std::vector<SeenPiece> seen;

    BlockingMemory(sc_core::sc_module_name name, Ticks latency) : sc_module(name), latency_(latency) {
        in.register_b_transport(this, &BlockingMemory::b_transport);
    }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        seen.push_back(
            {payload.get_address(), payload.get_data_length(), payload.is_write(), payload.get_data_ptr()});
        delay += to_sc_time(latency_);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    const Ticks latency_;
};

}  // namespace systole::test
