// SPDX-License-Identifier: Apache-2.0
#include "models/link/chip_link.h"

namespace systole {

Bytes ChipLinkSpec::in_flight() const {
    const Int128 bytes = Int128{peak().value()} * latency.value();
    return Bytes(static_cast<std::int64_t>((bytes + kTicksPerSecond - 1) / kTicksPerSecond));
}

ChipLink::ChipLink(sc_core::sc_module_name name, const ChipLinkSpec& spec)
    : sc_module(name), timing_in_(spec.peak(), spec.latency), timing_out_(spec.peak(), spec.latency) {}

Ticks ChipLink::serve(Ticks at, const tlm::tlm_generic_payload& payload) {
    return (payload.is_write() ? timing_out_ : timing_in_).send(at, Bytes(payload.get_data_length()));
}

std::vector<Stat> ChipLink::stats() const {
    return {{name(), "bytes_in", "B", "data brought from neighbouring chips", bytes_in().value()},
            {name(), "bytes_out", "B", "data sent to neighbouring chips", bytes_out().value()}};
}

}  // namespace systole
