// SPDX-License-Identifier: Apache-2.0
// SMs warp instruction by warp instruction in front of the chip's own L2: each load's missing sectors are one
// transaction, and come back when the L2 says so.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/devices/simt/machine/sms_in_warps.h"
#include "models/devices/simt/machine/tile_access.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/base/clock.h"
#include "sim/kernel/kernel.h"
#include "sim/kernel/payload_pool.h"

namespace systole::test {

class SmsInWarps : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<SmsInWarps> out{"out"};

    /// One CTA each, from cycle kStart on; programs must outlive it. Their accesses are loads of addresses.
    static constexpr std::int64_t kStart = 4000;
    SmsInWarps(sc_core::sc_module_name name, const simt::SimtSpec& spec,
               const std::vector<simt::CtaProgram>& programs)
        : sc_module(name),
          clock_(spec.core_clock),
          sms_(spec, programs.size(), 256,
               [](std::size_t, const simt::Sm::Access&) { return simt::TileAccess{}; }) {
        for (std::size_t i = 0; i < programs.size(); ++i) sms_.sm(i).launch(programs[i], kStart);
        out.register_nb_transport_bw(this, &SmsInWarps::nb_transport_bw);
        SC_HAS_PROCESS(SmsInWarps);
        SC_METHOD(step);
        sensitive << wake_;
    }
    const simt::Sm& sm(std::size_t number) const { return sms_.sm(number); }
    bool finished() const {
        for (std::size_t i = 0; i < sms_.count(); ++i)
            if (!sms_.sm(i).finished()) return false;
        return true;
    }

private:
    struct Payload : tlm::tlm_generic_payload {
        simt::TileAccess tiles;
        std::int64_t number = 0;
        ~Payload() override { clear_extension(&tiles); }
    };

    /// Everything before this cycle's end; then sleeps until something issues or leaves.
    void step() {
        leaving_.clear();
        sms_.advance(clock_.at_or_after(now()).value(), leaving_);
        for (simt::SmsInWarps::Leaving& leaving : leaving_) {
            Payload* payload = pool_.acquire();
            payload->number = leaving.number;
            payload->tiles = std::move(leaving.tiles);
            payload->set_extension(&payload->tiles);
            payload->set_command(tlm::TLM_READ_COMMAND);
            payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay;
            out->nb_transport_fw(*payload, phase, delay);  // the L2 accepts at once
        }
        const std::int64_t next = sms_.next();
        if (next < simt::Sm::kNever) wake_.notify(to_sc_time(clock_.edge(Cycles(next)) - now()));
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& answer, tlm::tlm_phase&, sc_core::sc_time&) {
        auto& payload = static_cast<Payload&>(answer);
        const Cycles cycle = clock_.at_or_after(now());
        sms_.answered(payload.number, cycle.value());
        payload.release();
        wake_.notify(to_sc_time(clock_.edge(cycle) - now()));
        return tlm::TLM_COMPLETED;
    }

    const ClockDomain clock_;
    simt::SmsInWarps sms_;
    std::vector<simt::SmsInWarps::Leaving> leaving_;  // scratch
    PayloadPool<Payload> pool_;
    sc_core::sc_event wake_{"wake"};
};

}  // namespace systole::test
