// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/die_network.h"

#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole::simt {

DieNetwork::DieNetwork(sc_core::sc_module_name name, std::int64_t askers) : sc_module(name), askers_(askers) {
    in.register_nb_transport_fw(this, &DieNetwork::nb_transport_fw);
    out.register_nb_transport_bw(this, &DieNetwork::nb_transport_bw);
}

std::int64_t DieNetwork::die_of(const Payload& payload) const {
    const auto* access = payload.get_extension<TileAccess>();
    SYSTOLE_CHECK(access != nullptr, "{} at {} ps: not a request for blocks", name(), now().value());
    const std::int64_t die = access->sm / askers_;
    SYSTOLE_CHECK(die == (access->sm + access->sms - 1) / askers_, "{}: {} SMs from {} on are on two dies",
                  name(), access->sms, access->sm);
    return die;
}

tlm::tlm_sync_enum DieNetwork::nb_transport_fw(int, Payload& payload, tlm::tlm_phase& phase,
                                               sc_core::sc_time& delay) {
    const std::int64_t to = out.size() > 1 ? die_of(payload) : 0;
    return out[static_cast<int>(to)]->nb_transport_fw(payload, phase, delay);
}

tlm::tlm_sync_enum DieNetwork::nb_transport_bw(int, Payload& payload, tlm::tlm_phase& phase,
                                               sc_core::sc_time& delay) {
    const std::int64_t to = in.size() > 1 ? die_of(payload) : 0;
    return in[static_cast<int>(to)]->nb_transport_bw(payload, phase, delay);
}

}  // namespace systole::simt
