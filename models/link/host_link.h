// SPDX-License-Identifier: Apache-2.0
// The link to the host as two TLM-2.0 targets, one per direction of data: reads through `down` bring data
// from host memory to the device, writes through `up` carry results back. A link of fixed bandwidth
// serializes each direction and adds a latency, and the directions never disturb each other; over PCI Express
// (pcie_timing.h) each also carries requests and acknowledgements of the other. Every engine pair of a chip
// has a port of its own to the one link, which serves requests in the order in which they come.
#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <variant>
#include <vector>

#include "models/link/link_spec.h"
#include "models/link/pcie_timing.h"
#include "sim/account/run_result.h"
#include "sim/kernel/served_target.h"

namespace systole {

/// When payloads of one direction arrive over a link of fixed bandwidth: plain arithmetic, no SystemC.
class LinkTiming {
public:
    LinkTiming(BytesPerSecond bandwidth, Ticks latency) : bandwidth_(bandwidth), latency_(latency) {}
    /// A payload handed over at `now` (not before an earlier call's): the time at which its last byte
    /// arrives.
    Ticks send(Ticks now, Bytes bytes);
    Bytes sent() const { return sent_; }

private:
    const BytesPerSecond bandwidth_;
    const Ticks latency_;
    Ticks busy_since_;  // start of the current busy period
    Bytes in_period_;   // bytes handed over since then: rounding never accumulates
    Ticks free_;        // the last byte of all payloads so far leaves
    Bytes sent_;
};

class HostLink : public sc_core::sc_module {
public:
    struct Port {
        ServedTarget down;  ///< takes reads only, answered when their last byte is in the device
        ServedTarget up;    ///< takes writes only, answered when their last byte is in host memory
        Port(HostLink& link, const std::string& number);
    };

    HostLink(sc_core::sc_module_name name, const HostLinkSpec& spec, int ports = 1);

    Port& port(int index) { return *ports_[static_cast<std::size_t>(index)]; }

    Bytes bytes_down() const;
    Bytes bytes_up() const;
    /// Counters of both directions.
    std::vector<Stat> stats() const;

private:
    struct Fixed {
        LinkTiming down, up;
    };
    Ticks serve(Ticks at, const tlm::tlm_generic_payload& payload, bool upwards);

    std::variant<Fixed, PcieTiming> timing_;
    std::vector<std::unique_ptr<Port>> ports_;
};

}  // namespace systole
