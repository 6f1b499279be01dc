// SPDX-License-Identifier: Apache-2.0
#include "models/memory/scratchpad.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {

Ticks PortTiming::serve(Ticks now, Bytes bytes, bool write) {
    const Cycles begin = std::max(clock_.at_or_after(now), free_);
    free_ = begin + Cycles(ceil_div(bytes.value(), width_.value()));
    (write ? written_ : read_) += bytes;
    return clock_.edge(free_ + latency_);
}

StreamPorts::StreamPorts(int ports, int clients)
    : free_(static_cast<std::size_t>(ports)), served_(static_cast<std::size_t>(clients), Cycles(-1)) {}

bool StreamPorts::granted(int client, std::uint64_t delta, Cycles now) {
    const auto rank = [this](int of) { return std::pair(served_[static_cast<std::size_t>(of)], of); };
    const auto before = std::count_if(wishes_.begin(), wishes_.end(), [&](const auto& other) {
        return other.second < delta && rank(other.first) < rank(client);
    });
    const auto free = std::count_if(free_.begin(), free_.end(), [&](Cycles from) { return from <= now; });
    wishes_.erase(client);
    return before < free;
}

Cycles StreamPorts::earliest() const {
    return *std::min_element(free_.begin(), free_.end());
}

void StreamPorts::reserve(int client, Cycles begin, Cycles end, Bytes bytes) {
    // Of the ports that are free, the one that was busy last: a client that reserves ahead keeps to one port.
    auto port = free_.end();
    for (auto at = free_.begin(); at != free_.end(); ++at)
        if (*at <= begin && (port == free_.end() || *at > *port)) port = at;
    SYSTOLE_CHECK(port != free_.end() && begin <= end, "stream [{}, {}), with no port free before {}",
                  begin.value(), end.value(), earliest().value());
    *port = end;
    served_[static_cast<std::size_t>(client)] = begin;
    read_ += bytes;
}

Scratchpad::Port::Port(const char* name, ClockDomain clock, Bytes width, Cycles latency)
    : timing(clock, width, latency), target(name, [this](Ticks now, const tlm::tlm_generic_payload& payload) {
          return timing.serve(now, Bytes(payload.get_data_length()), payload.is_write());
      }) {}

Scratchpad::Scratchpad(sc_core::sc_module_name name, const ScratchpadSpec& spec, ClockDomain clock,
                       const std::vector<std::string>& dma_ports, int matrix_units)
    : sc_module(name), streams_(spec.activation_ports, matrix_units) {
    for (const std::string& port : dma_ports)
        dma_ports_.push_back(std::make_unique<Port>(port.c_str(), clock, spec.dma_port_bytes, spec.latency));
    for (int mxu = 0; mxu < matrix_units; ++mxu)
        weight_ports_.push_back(std::make_unique<Port>(("weights" + std::to_string(mxu)).c_str(), clock,
                                                       spec.weight_port_bytes, spec.latency));
}

Bytes Scratchpad::bytes_out() const {
    Bytes total = streams_.read();
    for (const auto& port : weight_ports_) total += port->timing.read();
    for (const auto& port : dma_ports_) total += port->timing.read();
    return total;
}

Bytes Scratchpad::bytes_in() const {
    Bytes total;
    for (const auto& port : dma_ports_) total += port->timing.written();
    return total;
}

}  // namespace systole
