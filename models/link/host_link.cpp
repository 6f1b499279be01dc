// SPDX-License-Identifier: Apache-2.0
#include "models/link/host_link.h"

#include "sim/base/check.h"

namespace systole {

BytesPerSecond HostLinkSpec::peak() const {
    return kind == Kind::Fixed ? bandwidth : PcieWire(pcie).payload_rate();
}

Ticks LinkTiming::send(Ticks now, Bytes bytes) {
    if (now >= free_) {
        busy_since_ = now;
        in_period_ = Bytes(0);
    }
    in_period_ += bytes;
    sent_ += bytes;
    // Time since the start of the busy period, from the exact byte count: no rounding error adds up.
    const Int128 rate = bandwidth_.value();
    const Int128 ticks = (Int128{in_period_.value()} * kTicksPerSecond + rate - 1) / rate;
    free_ = busy_since_ + Ticks(static_cast<std::int64_t>(ticks));
    return free_ + latency_;
}

HostLink::HostLink(sc_core::sc_module_name name, const HostLinkSpec& spec, int ports)
    : sc_module(name), timing_(Fixed{{spec.bandwidth, spec.latency}, {spec.bandwidth, spec.latency}}) {
    if (spec.kind == HostLinkSpec::Kind::Pcie) timing_.emplace<PcieTiming>(spec.pcie, spec.latency);
    for (int i = 0; i < ports; ++i)
        ports_.push_back(std::make_unique<Port>(*this, i == 0 ? "" : std::to_string(i)));
}

HostLink::Port::Port(HostLink& link, const std::string& number)
    : down(("down" + number).c_str(), ServedTarget::Timing([&link](Ticks at, const auto& payload) {
               return link.serve(at, payload, false);
           })),
      up(("up" + number).c_str(), ServedTarget::Timing([&link](Ticks at, const auto& payload) {
             return link.serve(at, payload, true);
         })) {}

Ticks HostLink::serve(Ticks at, const tlm::tlm_generic_payload& payload, bool upwards) {
    SYSTOLE_CHECK(payload.is_write() == upwards, "{}: a {} through the socket of the other direction", name(),
                  payload.is_write() ? "write" : "read");
    const Bytes bytes(payload.get_data_length());
    if (auto* fixed = std::get_if<Fixed>(&timing_))
        return (upwards ? fixed->up : fixed->down).send(at, bytes);
    auto& pcie = std::get<PcieTiming>(timing_);
    const auto address = static_cast<std::int64_t>(payload.get_address());
    return upwards ? pcie.write(at, address, bytes) : pcie.read(at, address, bytes);
}

Bytes HostLink::bytes_down() const {
    const auto* fixed = std::get_if<Fixed>(&timing_);
    return fixed ? fixed->down.sent() : std::get<PcieTiming>(timing_).down().data;
}

Bytes HostLink::bytes_up() const {
    const auto* fixed = std::get_if<Fixed>(&timing_);
    return fixed ? fixed->up.sent() : std::get<PcieTiming>(timing_).up().data;
}

std::vector<Stat> HostLink::stats() const {
    const auto stat = [this](const char* counter, const char* unit, const char* meaning, std::int64_t value) {
        return Stat{name(), counter, unit, meaning, value};
    };
    std::vector<Stat> all{
        stat("bytes_down", "B", "data brought from the host", bytes_down().value()),
        stat("bytes_up", "B", "data carried to the host", bytes_up().value()),
    };
    if (const auto* pcie = std::get_if<PcieTiming>(&timing_)) {
        all.push_back(stat("wire_down", "ps",
                           "wires towards the device taken: data, headers, acknowledgements",
                           pcie->down().wire.value()));
        all.push_back(stat("wire_up", "ps",
                           "wires towards the host taken: data, headers, requests, "
                           "acknowledgements",
                           pcie->up().wire.value()));
    }
    return all;
}

}  // namespace systole
