// SPDX-License-Identifier: Apache-2.0
// A TLM-2.0 target whose whole behaviour is one question: "a request of n bytes arrives now; when is it
// answered?" Scratchpad ports and link directions are such targets. Requests are accepted at once
// (TLM_UPDATED, END_REQ) and answered with BEGIN_RESP at the time the timing function gave, or its owner
// later gives; initiators finish with TLM_COMPLETED.
#pragma once

#include <tlm_utils/simple_target_socket.h>
#include <deque>
#include <functional>
#include <systemc>
#include <tlm>

#include "sim/base/units.h"

namespace systole {

class ServedTarget : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<ServedTarget> in{"in"};

    /// Answers the time at which the response to a request that arrives at `now` begins.
    using Timing = std::function<Ticks(Ticks now, const tlm::tlm_generic_payload& payload)>;

    ServedTarget(sc_core::sc_module_name name, Timing timing);

    /// For an owner that cannot tell at once: takes a request that arrives at `arrival`, and must give its
    /// answer() then, perhaps some delta cycles later.
    struct Taker {
        std::function<void(Ticks arrival, tlm::tlm_generic_payload& payload)> take;
    };
    ServedTarget(sc_core::sc_module_name name, Taker taker);
    /// The response to `payload` begins at `at`.
    void answer(tlm::tlm_generic_payload& payload, Ticks at);

private:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay);
    void respond();  // SC_METHOD: everything whose time has come

    /// Of one time the first that was answered goes first.
    struct Answer {
        Ticks at;
        tlm::tlm_generic_payload* payload;
    };

    Taker taker_;
    std::deque<Answer> due_;  // in the order of time, which mostly is that in which they come
    sc_core::sc_event due_now_{"due_now"};
};

}  // namespace systole
