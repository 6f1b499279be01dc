// SPDX-License-Identifier: Apache-2.0
// A TLM-2.0 target whose whole behaviour is one question: "a request of n bytes arrives now; when is it
// answered?" Scratchpad ports and link directions are such targets. Requests are accepted at once
// (TLM_UPDATED, END_REQ) and answered with BEGIN_RESP at the time the timing function gave, or its owner
// later gives; initiators finish with TLM_COMPLETED.
#pragma once

#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_target_socket.h>
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

    Taker taker_;
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> due_{"due"};
};

}  // namespace systole
