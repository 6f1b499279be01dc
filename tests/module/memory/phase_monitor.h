// SPDX-License-Identifier: Apache-2.0
// Looks at every phase that passes between one initiator and a target and holds it to the rules of the
// TLM-2.0 base protocol: a payload goes through BEGIN_REQ, END_REQ, BEGIN_RESP, END_RESP in this order (a
// response may stand for END_REQ, TLM_COMPLETED for the rest), no second BEGIN_REQ before the first one's
// end, no second BEGIN_RESP before the first one's end, and time never runs backwards.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace systole::test {

class PhaseMonitor : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<PhaseMonitor> in{"in"};
    tlm_utils::simple_initiator_socket<PhaseMonitor> out{"out"};
    std::vector<std::string> faults;
    int responses = 0;

    explicit PhaseMonitor(sc_core::sc_module_name name) : sc_module(name) {
        in.register_nb_transport_fw(this, &PhaseMonitor::forward);
        in.register_b_transport(this, &PhaseMonitor::block);
        out.register_nb_transport_bw(this, &PhaseMonitor::backward);
    }
    /// Nothing is under way.
    bool quiet() const { return state_.empty(); }

private:
    using Payload = tlm::tlm_generic_payload;
    enum State { kNew, kRequesting, kAccepted, kResponding };

    void fault(const char* what, const tlm::tlm_phase& phase) {
        faults.push_back(std::string(what) + ": " + phase.get_name() + " at " +
                         sc_core::sc_time_stamp().to_string());
    }

    /// One phase, from the initiator (`own`) or from the target.
    void see(Payload& payload, const tlm::tlm_phase& phase, bool own) {
        const auto found = state_.find(&payload);
        const State state = found == state_.end() ? kNew : found->second;
        if (phase == tlm::BEGIN_REQ && own) {
            if (state != kNew) fault("begun twice", phase);
            if (requesting_) fault("before the last request was accepted", phase);
            requesting_ = &payload;
            state_[&payload] = kRequesting;
        } else if (phase == tlm::END_REQ && !own) {
            if (state != kRequesting) fault("out of order", phase);
            requesting_ = nullptr;
            state_[&payload] = kAccepted;
        } else if (phase == tlm::BEGIN_RESP && !own) {
            if (state != kRequesting && state != kAccepted) fault("out of order", phase);
            if (responding_) fault("before the last response was ended", phase);
            if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) fault("no status", phase);
            if (requesting_ == &payload) requesting_ = nullptr;
            responding_ = &payload;
            state_[&payload] = kResponding;
            ++responses;
        } else if (phase == tlm::END_RESP && own) {
            if (state != kResponding) fault("out of order", phase);
            end(payload);
        } else {
            fault("from the wrong side", phase);
        }
    }

    void end(Payload& payload) {
        if (requesting_ == &payload) requesting_ = nullptr;
        if (responding_ == &payload) responding_ = nullptr;
        state_.erase(&payload);
    }

    tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        see(payload, phase, true);
        const bool last = phase == tlm::END_RESP;
        const auto status = out->nb_transport_fw(payload, phase, delay);
        if (status == tlm::TLM_UPDATED) see(payload, phase, false);
        if (status == tlm::TLM_COMPLETED && !last) end(payload), ++responses;
        return status;
    }

    tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        see(payload, phase, false);
        const bool response = phase == tlm::BEGIN_RESP;
        const auto status = in->nb_transport_bw(payload, phase, delay);
        if (status == tlm::TLM_UPDATED) see(payload, phase, true);
        if (status == tlm::TLM_COMPLETED && response) end(payload);
        if (status == tlm::TLM_COMPLETED && !response) fault("completed by the initiator", phase);
        return status;
    }

    void block(Payload& payload, sc_core::sc_time& delay) { out->b_transport(payload, delay); }

    std::map<Payload*, State> state_;
    Payload* requesting_ = nullptr;
    Payload* responding_ = nullptr;
};

}  // namespace systole::test
