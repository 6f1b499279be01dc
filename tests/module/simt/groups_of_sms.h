// SPDX-License-Identifier: Apache-2.0
// A stand-alone TLM-2.0 initiator for the L2: groups of SMs that read and write blocks at given times.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <deque>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/devices/simt/machine/tile_access.h"
#include "sim/kernel/kernel.h"

namespace systole::test {

class GroupsOfSms : public sc_core::sc_module {
public:
    struct Request {
        Ticks at;  // ascending
        simt::TileAccess tiles;
        bool write = false;
    };
    tlm_utils::simple_initiator_socket<GroupsOfSms> out{"out"};

    GroupsOfSms(sc_core::sc_module_name name, std::vector<Request> requests) : sc_module(name) {
        for (Request& request : requests) sent_.emplace_back(std::move(request));
        answered_.assign(sent_.size(), Ticks(-1));
        out.register_nb_transport_bw(this, &GroupsOfSms::nb_transport_bw);
        SC_HAS_PROCESS(GroupsOfSms);
        SC_THREAD(send);
    }
    /// By request; -1 ps: not yet.
    const std::vector<Ticks>& answered() const { return answered_; }

private:
    struct Sent : tlm::tlm_mm_interface {
        explicit Sent(Request what) : request(std::move(what)) {
            payload.set_mm(this);
            payload.set_extension(&request.tiles);
            payload.set_command(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        }
        ~Sent() override { payload.clear_extension(&request.tiles); }
        void free(tlm::tlm_generic_payload*) override {}
        Request request;
        tlm::tlm_generic_payload payload;
    };

    void send() {
        for (Sent& sent : sent_) {
            if (sent.request.at > now()) sc_core::wait(to_sc_time(sent.request.at - now()));
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay;
            out->nb_transport_fw(sent.payload, phase, delay);  // the L2 accepts at once
        }
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                       sc_core::sc_time&) {
        for (std::size_t i = 0; i < sent_.size(); ++i)
            if (&sent_[i].payload == &payload) answered_[i] = now();
        return tlm::TLM_COMPLETED;
    }

    std::deque<Sent> sent_;  // they must not move
    std::vector<Ticks> answered_;
};

}  // namespace systole::test
