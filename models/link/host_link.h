// SPDX-License-Identifier: Apache-2.0
// The link to the host (PCIe) as two TLM-2.0 targets, one per direction: reads from `down` bring data from
// host memory to the device, writes to `up` carry results back. Each direction serializes its payloads at the
// effective bandwidth and adds the one-way latency; the two never disturb each other (full duplex).
// Host memory itself is taken to be as fast as the link.
#pragma once

#include <systemc>

#include "models/link/link_spec.h"
#include "sim/kernel/served_target.h"

namespace systole {

/// When payloads of one direction arrive: plain arithmetic, no SystemC.
class LinkTiming {
public:
    explicit LinkTiming(const HostLinkSpec& spec) : spec_(spec) {}
    /// A payload handed over at `now` (not before an earlier call's): the time at which its last byte
    /// arrives.
    Ticks send(Ticks now, Bytes bytes);
    Bytes sent() const { return sent_; }

private:
    const HostLinkSpec spec_;
    Ticks busy_since_;  // start of the current busy period
    Bytes in_period_;   // bytes handed over since then: rounding never accumulates
    Ticks free_;        // the last byte of all payloads so far leaves
    Bytes sent_;
};

class HostLink : public sc_core::sc_module {
    LinkTiming down_timing_, up_timing_;

public:
    ServedTarget down{"down",
                      [this](Ticks at, const auto& payload) { return serve(down_timing_, at, payload); }};
    ServedTarget up{"up", [this](Ticks at, const auto& payload) { return serve(up_timing_, at, payload); }};

    HostLink(sc_core::sc_module_name name, const HostLinkSpec& spec)
        : sc_module(name), down_timing_(spec), up_timing_(spec) {}

    Bytes bytes_down() const { return down_timing_.sent(); }
    Bytes bytes_up() const { return up_timing_.sent(); }

private:
    static Ticks serve(LinkTiming& timing, Ticks at, const tlm::tlm_generic_payload& payload) {
        return timing.send(at, Bytes(payload.get_data_length()));
    }
};

}  // namespace systole
