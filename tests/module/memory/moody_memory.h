// SPDX-License-Identifier: Apache-2.0
// A memory that answers every burst in another of the ways that the TLM-2.0 base protocol allows, at random:
// END_REQ late or at once, annotated or not, left out, or the whole answer at once.
#pragma once

#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <deque>
#include <random>
#include <systemc>
#include <tlm>

#include "sim/base/units.h"
#include "sim/kernel/kernel.h"

namespace systole::test {

class MoodyMemory : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<MoodyMemory> in{"in"};
    std::int64_t bytes = 0;
    std::array<int, 5> moods{};  // how often each way was taken

    MoodyMemory(sc_core::sc_module_name name, std::uint64_t seed) : sc_module(name), random_(seed) {
        in.register_nb_transport_fw(this, &MoodyMemory::forward);
        SC_HAS_PROCESS(MoodyMemory);
        SC_METHOD(accept);
        sensitive << accept_.get_event();
        dont_initialize();
        SC_METHOD(respond);
        sensitive << due_.get_event() << next_;
        dont_initialize();
    }

private:
    using Payload = tlm::tlm_generic_payload;
    enum Mood { kAcceptLate, kAcceptAtOnce, kRespondAtOnce, kComplete, kNeverAccept };

    sc_core::sc_time some_time() {
        return sc_core::sc_time(static_cast<double>(random_() % 4), sc_core::SC_NS);
    }

    tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        if (phase == tlm::END_RESP) {
            responding_ = false;
            next_.notify(sc_core::SC_ZERO_TIME);
            return tlm::TLM_COMPLETED;
        }
        bytes += payload.get_data_length();
        auto mood = static_cast<Mood>(random_() % 5);
        if (mood == kRespondAtOnce && responding_) mood = kAcceptAtOnce;
        ++moods[static_cast<std::size_t>(mood)];
        if (mood == kComplete || mood == kRespondAtOnce) {
            payload.set_response_status(tlm::TLM_OK_RESPONSE);
            delay += some_time();
            if (mood == kComplete) return tlm::TLM_COMPLETED;
            responding_ = true;
            phase = tlm::BEGIN_RESP;
            return tlm::TLM_UPDATED;
        }
        payload.acquire();
        if (mood == kAcceptAtOnce) {
            phase = tlm::END_REQ;
            delay += some_time();
            due_.notify(payload, delay + some_time());
            return tlm::TLM_UPDATED;
        }
        if (mood == kAcceptLate)
            accept_.notify(payload, some_time());
        else
            due_.notify(payload, some_time());
        return tlm::TLM_ACCEPTED;
    }
    void accept() {
        while (Payload* payload = accept_.get_next_transaction()) {
            tlm::tlm_phase phase = tlm::END_REQ;
            sc_core::sc_time delay = some_time();
            due_.notify(*payload, delay + some_time());
            in->nb_transport_bw(*payload, phase, delay);
        }
    }
    void respond() {
        while (Payload* payload = due_.get_next_transaction()) answers_.push_back(payload);
        while (!responding_ && !answers_.empty()) {
            Payload* payload = answers_.front();
            answers_.pop_front();
            payload->set_response_status(tlm::TLM_OK_RESPONSE);
            tlm::tlm_phase phase = tlm::BEGIN_RESP;
            sc_core::sc_time delay = some_time();
            responding_ = true;
            if (in->nb_transport_bw(*payload, phase, delay) != tlm::TLM_ACCEPTED) responding_ = false;
            payload->release();
        }
    }

    std::mt19937_64 random_;
    tlm_utils::peq_with_get<Payload> accept_{"accepting"}, due_{"due"};
    std::deque<Payload*> answers_;
    bool responding_ = false;
    sc_core::sc_event next_;
};

}  // namespace systole::test
