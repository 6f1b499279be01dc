// SPDX-License-Identifier: Apache-2.0
// SMs warp instruction by warp instruction in front of the chip's own L2: each load's missing sectors are one
// transaction, and come back when the L2 says so.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <deque>
#include <queue>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/devices/simt/machine/tile_access.h"
#include "models/devices/simt/sm/sm.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/base/clock.h"
#include "sim/kernel/kernel.h"
#include "sim/kernel/payload_pool.h"

namespace systole::test {

class SmsInWarps : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<SmsInWarps> out{"out"};

    /// One CTA each, from cycle kStart on; programs must outlive it. Before, each SM reads a sector, the last
    /// one first: the L2's port of an SM that was not seen before is that of those with lower numbers, from
    /// whom it is set apart.
    static constexpr std::int64_t kStart = 4000;
    SmsInWarps(sc_core::sc_module_name name, const simt::SimtSpec& spec,
               const std::vector<simt::CtaProgram>& programs)
        : sc_module(name), clock_(spec.core_clock) {
        for (const simt::CtaProgram& program : programs) {
            const std::size_t number = sms_.size();
            sms_.emplace_back(
                spec.sm, 256, [](simt::Op, std::int64_t, std::int64_t at) { return at; },
                [this, number](const std::vector<std::int64_t>& sectors, std::int64_t at,
                               std::int64_t request) { return leave(number, sectors, at, request); });
            sms_.back().launch(program, kStart);
        }
        for (std::size_t number = sms_.size(); number-- > 0;) leave(number, {0}, 0, kPriming);
        out.register_nb_transport_bw(this, &SmsInWarps::nb_transport_bw);
        SC_HAS_PROCESS(SmsInWarps);
        SC_METHOD(step);
        sensitive << wake_;
    }
    const simt::Sm& sm(std::size_t number) const { return sms_[number]; }
    bool finished() const {
        return std::ranges::all_of(sms_, [](const simt::Sm& sm) { return sm.finished(); });
    }

private:
    static constexpr std::int64_t kPriming = -1;
    struct Payload : tlm::tlm_generic_payload {
        simt::TileAccess tiles;
        std::int64_t leaves = 0, request = 0, number = 0;
        ~Payload() override { clear_extension(&tiles); }
    };
    struct Later {
        bool operator()(const Payload* a, const Payload* b) const {
            return a->leaves != b->leaves ? a->leaves > b->leaves : a->number > b->number;
        }
    };

    std::int64_t leave(std::size_t sm, const std::vector<std::int64_t>& sectors, std::int64_t at,
                       std::int64_t request) {
        Payload* payload = pool_.acquire();
        payload->leaves = at;
        payload->request = request;
        payload->number = sent_++;
        simt::TileAccess& tiles = payload->tiles;
        tiles.sm = static_cast<std::int64_t>(sm);
        tiles.blocks.clear();
        for (const std::int64_t sector : sectors) {
            const std::int64_t address = sector * simt::kSectorBytes;
            if (!tiles.blocks.empty() && tiles.blocks.back().address + tiles.blocks.back().bytes == address)
                tiles.blocks.back().bytes += simt::kSectorBytes;
            else
                tiles.blocks.push_back({address, simt::kSectorBytes, 1, Operand::Activations, {}});
        }
        tiles.bytes_of_sm = static_cast<std::int64_t>(sectors.size()) * simt::kSectorBytes;
        payload->set_extension(&tiles);
        payload->set_command(tlm::TLM_READ_COMMAND);
        leaving_.push(payload);
        return simt::Sm::kLater;
    }
    /// Everything before this cycle's end; then sleeps until something issues or leaves.
    void step() {
        const std::int64_t cycle = clock_.at_or_after(now()).value();
        std::int64_t next = simt::Sm::kNever;
        for (simt::Sm& sm : sms_) {
            sm.advance(cycle + 1);
            next = std::min(next, sm.next_issue());
        }
        while (!leaving_.empty() && leaving_.top()->leaves <= cycle) {
            Payload* payload = leaving_.top();
            leaving_.pop();
            payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay;
            out->nb_transport_fw(*payload, phase, delay);  // the L2 accepts at once
        }
        if (!leaving_.empty()) next = std::min(next, leaving_.top()->leaves);
        if (next < simt::Sm::kNever) wake_.notify(to_sc_time(clock_.edge(Cycles(next)) - now()));
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& answer, tlm::tlm_phase&, sc_core::sc_time&) {
        auto& payload = static_cast<Payload&>(answer);
        const Cycles cycle = clock_.at_or_after(now());
        if (payload.request != kPriming)
            sms_[static_cast<std::size_t>(payload.tiles.sm)].arrived(payload.request, cycle.value());
        payload.release();
        wake_.notify(to_sc_time(clock_.edge(cycle) - now()));
        return tlm::TLM_COMPLETED;
    }

    const ClockDomain clock_;
    std::deque<simt::Sm> sms_;
    std::priority_queue<Payload*, std::vector<Payload*>, Later> leaving_;
    PayloadPool<Payload> pool_;
    std::int64_t sent_ = 0;
    sc_core::sc_event wake_{"wake"};
};

}  // namespace systole::test
