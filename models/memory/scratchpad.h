// SPDX-License-Identifier: Apache-2.0
// The on-chip scratchpad as its clients meet it. DMA and weight FIFOs come through TLM-2.0 ports of their
// own, each as wide as the specification says and busy while it serves. Activation streams into the matrix
// units are rigid: they reserve a whole interval of a shared stream port before they start, and never wait
// inside.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "models/memory/scratchpad_spec.h"
#include "sim/base/clock.h"
#include "sim/kernel/served_target.h"

namespace systole {

/// One port of fixed width: plain arithmetic, no SystemC.
class PortTiming {
public:
    PortTiming(ClockDomain clock, Bytes width, Cycles latency)
        : clock_(clock), width_(width), latency_(latency) {}
    /// A request that arrives at `now`: the time at which its last byte has passed.
    Ticks serve(Ticks now, Bytes bytes, bool write);
    /// Bytes that the upper edge of an array reads in its own rigid schedule, one tile or stream at a time.
    void stream(Bytes bytes) { read_ += bytes; }
    /// Bytes read from and written to the scratchpad through this port.
    Bytes read() const { return read_; }
    Bytes written() const { return written_; }

private:
    const ClockDomain clock_;
    const Bytes width_;
    const Cycles latency_;
    Cycles free_;
    Bytes read_, written_;
};

/// The stream ports that matrix units share: each carries one stream at a time. Where there are fewer ports
/// than units, a unit first wishes for a port and asks in a later delta cycle whether it was granted, so that
/// the order in which SystemC runs processes decides nothing: the unit served longest ago goes first, then
/// the lower number.
class StreamPorts {
public:
    StreamPorts(int ports, int clients);
    bool contended() const { return free_.size() < served_.size(); }
    std::size_t count() const { return free_.size(); }
    /// A stream passes the port in `cycle`, which is not in the past.
    bool busy(std::size_t port, Cycles cycle) const { return cycle < free_[port]; }
    void wish(int client, std::uint64_t delta) { wishes_[client] = delta; }
    /// Withdraws the client's wish and says whether a port is its own from `now` on; wishes of this same
    /// delta cycle come too late to compete.
    bool granted(int client, std::uint64_t delta, Cycles now);
    /// The first cycle from which some port is free.
    Cycles earliest() const;
    /// Takes a port that is free at `begin` until `end`.
    void reserve(int client, Cycles begin, Cycles end, Bytes bytes);
    Bytes read() const { return read_; }

private:
    std::vector<Cycles> free_;             // by port
    std::vector<Cycles> served_;           // by client: its last stream began
    std::map<int, std::uint64_t> wishes_;  // by client: the delta cycle of its wish
    Bytes read_;
};

class Scratchpad : public sc_core::sc_module {
public:
    /// A TLM port together with its timing.
    struct Port {
        PortTiming timing;
        ServedTarget target;
        Port(const char* name, ClockDomain clock, Bytes width, Cycles latency);
    };

    /// One DMA port per name in `dma_ports`, one weight port for each matrix unit, and the shared stream
    /// ports.
    Scratchpad(sc_core::sc_module_name name, const ScratchpadSpec& spec, ClockDomain clock,
               const std::vector<std::string>& dma_ports, int matrix_units);

    /// The port of the DMA engine that was named there, in the same order.
    Port& dma_port(std::size_t index) { return *dma_ports_[index]; }
    /// The port that fills weight FIFO `mxu`.
    Port& weight_port(std::size_t mxu) { return *weight_ports_[mxu]; }
    StreamPorts& streams() { return streams_; }

    /// Bytes read from the scratchpad through all ports and streams, and written to it.
    Bytes bytes_out() const;
    Bytes bytes_in() const;

private:
    StreamPorts streams_;
    std::vector<std::unique_ptr<Port>> weight_ports_, dma_ports_;
};

}  // namespace systole
