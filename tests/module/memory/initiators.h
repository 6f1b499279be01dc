// SPDX-License-Identifier: Apache-2.0
// Stand-alone TLM-2.0 initiators for memories under test, approximately and loosely timed.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <algorithm>
#include <map>
#include <systemc>
#include <tlm>
#include <vector>

#include "sim/kernel/kernel.h"
#include "sim/kernel/payload_pool.h"

namespace systole::test {

/// Sends requests at given times (each as soon as the one before was accepted), and notes what happens.
class Source : public sc_core::sc_module {
public:
    struct Request {
        Ticks at;
        std::uint64_t address;
        unsigned bytes;
        bool write = false;
        unsigned streaming_width = ~0u;  // all bytes
    };
    struct Outcome {
        Ticks accepted, answered;
        tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
    };
    tlm_utils::simple_initiator_socket<Source> out{"out"};

    Source(sc_core::sc_module_name name, std::vector<Request> requests, bool late_end_resp = false)
        : sc_module(name), requests_(std::move(requests)), outcomes_(requests_.size()), late_(late_end_resp) {
        out.register_nb_transport_bw(this, &Source::nb_transport_bw);
        SC_HAS_PROCESS(Source);
        SC_THREAD(send);
        SC_METHOD(end_response);
        sensitive << end_response_;
        dont_initialize();
    }
    const std::vector<Outcome>& outcomes() const { return outcomes_; }

private:
    void send() {
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            const Request& request = requests_[i];
            if (request.at > now()) sc_core::wait(to_sc_time(request.at - now()));
            tlm::tlm_generic_payload* payload = pool_.acquire();
            payload->set_address(request.address);
            payload->set_data_length(request.bytes);
            payload->set_streaming_width(std::min(request.streaming_width, request.bytes));
            payload->set_command(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
            number_[payload] = i;
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay;
            const auto status = out->nb_transport_fw(*payload, phase, delay);
            if (status == tlm::TLM_COMPLETED) {
                outcomes_[i] = {now(), now(), payload->get_response_status()};
                payload->release();
                continue;
            }
            if (status == tlm::TLM_ACCEPTED) sc_core::wait(accepted_);
            outcomes_[i].accepted = now();
        }
    }

    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time&) {
        if (phase == tlm::END_REQ) {
            accepted_.notify();
            return tlm::TLM_ACCEPTED;
        }
        Outcome& outcome = outcomes_[number_.at(&payload)];
        outcome.answered = now();
        outcome.status = payload.get_response_status();
        if (!late_) {
            payload.release();
            return tlm::TLM_COMPLETED;
        }
        responding_ = &payload;
        end_response_.notify(sc_core::sc_time(100, sc_core::SC_NS));
        return tlm::TLM_ACCEPTED;
    }

    void end_response() {
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time delay;
        out->nb_transport_fw(*responding_, phase, delay);
        responding_->release();
    }

    std::vector<Request> requests_;
    std::vector<Outcome> outcomes_;
    const bool late_;
    PayloadPool<tlm::tlm_generic_payload> pool_;
    std::map<tlm::tlm_generic_payload*, std::size_t> number_;
    tlm::tlm_generic_payload* responding_ = nullptr;
    sc_core::sc_event accepted_, end_response_;
};

/// Sends requests one after another through b_transport, each annotated with 10 ns.
class LooselyTimed : public sc_core::sc_module {
public:
    struct Request {
        std::uint64_t address;
        unsigned bytes;
        bool write;
    };
    tlm_utils::simple_initiator_socket<LooselyTimed> out{"out"};

    LooselyTimed(sc_core::sc_module_name name, std::vector<Request> requests)
        : sc_module(name), requests_(std::move(requests)) {
        SC_HAS_PROCESS(LooselyTimed);
        SC_THREAD(go);
    }
    const std::vector<Ticks>& answered() const { return answered_; }
    bool all_ok() const { return all_ok_; }

private:
    void go() {
        for (const Request& request : requests_) {
            tlm::tlm_generic_payload payload;
            payload.set_command(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
            payload.set_address(request.address);
            payload.set_data_length(request.bytes);
            payload.set_streaming_width(request.bytes);
            sc_core::sc_time delay(10, sc_core::SC_NS);
            out->b_transport(payload, delay);
            sc_core::wait(delay);
            answered_.push_back(now());
            all_ok_ = all_ok_ && payload.is_response_ok();
        }
    }

    std::vector<Request> requests_;
    std::vector<Ticks> answered_;
    bool all_ok_ = true;
};

}  // namespace systole::test
