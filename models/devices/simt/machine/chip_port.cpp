// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/chip_port.h"

#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole::simt {

ChipPort::ChipPort(sc_core::sc_module_name name, ByteLedger& ledger) : sc_module(name), ledger_(ledger) {
    out.register_nb_transport_bw(this, &ChipPort::nb_transport_bw);
    in.register_nb_transport_bw(this, &ChipPort::nb_transport_bw);
}

void ChipPort::exchange(std::size_t layer, Bytes sent, Bytes received, std::function<void()> done) {
    const auto shared = std::make_shared<std::function<void()>>(std::move(done));
    send(out, tlm::TLM_WRITE_COMMAND, layer, sent, shared);
    send(in, tlm::TLM_READ_COMMAND, layer, received, shared);
}

void ChipPort::send(Socket& socket, tlm::tlm_command command, std::size_t layer, Bytes bytes,
                    const std::shared_ptr<std::function<void()>>& done) {
    Payload* payload = pool_.acquire();
    payload->layer = layer;
    payload->done = done;
    payload->set_command(command);
    payload->set_data_length(static_cast<unsigned>(bytes.value()));
    payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answer = socket->nb_transport_fw(*payload, phase, delay);
    SYSTOLE_CHECK(answer == tlm::TLM_UPDATED && phase == tlm::END_REQ, "{}: a request that waits", name());
}

tlm::tlm_sync_enum ChipPort::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                             sc_core::sc_time& delay) {
    SYSTOLE_CHECK(phase == tlm::BEGIN_RESP && delay == sc_core::SC_ZERO_TIME && payload.is_response_ok(),
                  "{} at {} ps: {}", name(), now().value(), payload.get_response_string());
    auto& own = static_cast<Payload&>(payload);
    const Bytes bytes(own.get_data_length());
    if (own.is_write())
        ledger_.enter(own.layer, Place::SharedMemory, Place::ChipLink, Operand::Activations, bytes);
    else
        ledger_.enter(own.layer, Place::ChipLink, Place::SharedMemory, Operand::Activations, bytes);
    const bool last = own.done.use_count() == 1;
    const std::shared_ptr<std::function<void()>> done = std::move(own.done);
    own.release();
    if (last) (*done)();
    return tlm::TLM_COMPLETED;
}

}  // namespace systole::simt
