// SPDX-License-Identifier: Apache-2.0
// The on-chip scratchpad as its clients meet it. DMA and weight FIFOs come through TLM-2.0 ports of their
// own, each as wide as the specification says and busy while it serves; arrays and the vector unit reserve
// the intervals in which they read and write. Behind the ports all of them meet in the banks, where what was
// promised first stays promised: nobody waits inside an interval.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "models/memory/scratchpad/scratchpad_banks.h"
#include "models/memory/scratchpad/scratchpad_spec.h"
#include "sim/account/invariants.h"
#include "sim/account/run_result.h"
#include "sim/base/clock.h"
#include "sim/kernel/served_target.h"
#include "sim/kernel/turns.h"

namespace systole {

/// Who goes first of clients that ask in the same moment; among equals, the lower number.
enum BankRank : int { kMatrixRank, kVectorRank, kTileRank, kDmaRank };

/// One port of fixed width: plain arithmetic, no SystemC.
class PortTiming {
public:
    /// Behind the port, `client` shares `banks` with others, unless their ports are private.
    PortTiming(ClockDomain clock, Bytes width, Cycles latency, ScratchpadBanks& banks, BankClient client)
        : clock_(clock), width_(width), latency_(latency), banks_(banks), client_(client) {}
    /// A request that arrives at `now`: the time at which its last byte has passed.
    Ticks serve(Ticks now, Bytes address, Bytes bytes, bool write);
    /// Bytes that the upper edge of an array reads in its own rigid schedule, one tile or stream at a time.
    void stream(Bytes bytes) { read_ += bytes; }
    /// Bytes read from and written to the scratchpad through this port.
    Bytes read() const { return read_; }
    Bytes written() const { return written_; }

private:
    const ClockDomain clock_;
    const Bytes width_;
    const Cycles latency_;
    ScratchpadBanks& banks_;
    const BankClient client_;
    Cycles free_;
    Bytes read_, written_;
};

/// The stream ports that matrix units share: each carries one stream at a time.
class StreamPorts {
public:
    StreamPorts(int ports, int clients);
    bool contended() const { return free_.size() < served_.size(); }
    std::size_t count() const { return free_.size(); }
    /// A stream passes the port in `cycle`, which is not in the past.
    bool busy(std::size_t port, Cycles cycle) const { return cycle < free_[port]; }
    /// When the last stream of a client began: of several that want a port, the one served longest ago goes
    /// first.
    Cycles served(int client) const { return served_[static_cast<std::size_t>(client)]; }
    /// The first cycle from which some port is free.
    Cycles earliest() const;
    /// Takes a port that is free at `begin` until `end`.
    void reserve(int client, Cycles begin, Cycles end, Bytes bytes);
    Bytes read() const { return read_; }

private:
    std::vector<Cycles> free_;    // by port
    std::vector<Cycles> served_;  // by client: its last stream began
    Bytes read_;
};

class Scratchpad : public sc_core::sc_module {
public:
    /// A TLM port together with its timing.
    struct Port {
        PortTiming timing;
        ServedTarget target;
        Port(const char* name, PortTiming timing, Turns& turns, Turns::Rank rank, bool in_turn);

    private:
        struct Request {
            Ticks arrival;
            tlm::tlm_generic_payload* payload;
        };
        void serve(const Request& request);
        std::deque<Request> waiting_;  // for a turn
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
    ScratchpadBanks& banks() { return banks_; }
    /// Where clients meet, in ports or banks, they reserve only when it is their turn.
    Turns& turns() { return turns_; }

    /// Bytes read from the scratchpad through all ports and streams, and written to it.
    Bytes bytes_out() const;
    Bytes bytes_in() const;
    /// Accesses and conflicts by kind of client, where clients meet in the banks.
    std::vector<Stat> stats() const;
    /// What all banks serve in a cycle, where clients meet in them.
    std::optional<BankLines> lines_per_cycle() const;

private:
    const ScratchpadSpec spec_;
    ScratchpadBanks banks_;
    Turns turns_{"turns"};
    StreamPorts streams_;
    std::vector<std::unique_ptr<Port>> weight_ports_, dma_ports_;
};

}  // namespace systole
