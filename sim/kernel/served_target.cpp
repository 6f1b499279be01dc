// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/served_target.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole {

ServedTarget::ServedTarget(sc_core::sc_module_name name, Timing timing)
    : ServedTarget(
          name, Taker{[this, timing = std::move(timing)](Ticks arrival, tlm::tlm_generic_payload& payload) {
              answer(payload, timing(arrival, payload));
          }}) {}

ServedTarget::ServedTarget(sc_core::sc_module_name name, Taker taker)
    : sc_module(name), taker_(std::move(taker)) {
    in.register_nb_transport_fw(this, &ServedTarget::nb_transport_fw);
    SC_HAS_PROCESS(ServedTarget);
    SC_METHOD(respond);
    sensitive << due_now_;
    dont_initialize();
}

tlm::tlm_sync_enum ServedTarget::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                 sc_core::sc_time& delay) {
    SYSTOLE_CHECK(phase == tlm::BEGIN_REQ, "{} at {} ps: unexpected phase {}", name(), now().value(),
                  phase.get_name());
    const Ticks arrival = now() + Ticks(static_cast<std::int64_t>(delay.value()));
    payload.acquire();
    taker_.take(arrival, payload);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void ServedTarget::answer(tlm::tlm_generic_payload& payload, Ticks at) {
    auto behind = due_.end();
    if (!due_.empty() && due_.back().at > at) behind = std::ranges::upper_bound(due_, at, {}, &Answer::at);
    due_.insert(behind, {at, &payload});
    if (due_.front().payload == &payload) due_now_.notify(to_sc_time(at - now()));
}

void ServedTarget::respond() {
    while (!due_.empty() && due_.front().at <= now()) {
        tlm::tlm_generic_payload* const payload = due_.front().payload;
        due_.pop_front();
        payload->set_response_status(tlm::TLM_OK_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        const auto answer = in->nb_transport_bw(*payload, phase, delay);
        SYSTOLE_CHECK(answer == tlm::TLM_COMPLETED, "{} at {} ps: initiator did not complete", name(),
                      now().value());
        payload->release();
    }
    if (!due_.empty()) due_now_.notify(to_sc_time(due_.front().at - now()));
}

}  // namespace systole
