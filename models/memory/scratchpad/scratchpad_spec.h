// SPDX-License-Identifier: Apache-2.0
// A banked on-chip scratchpad (unified buffer, VMEM): lines of `bank_bytes` are dealt out to the banks, and
// every bank serves a line a cycle and port. Clients (array edges, weight FIFOs, vector unit, DMA engines)
// have ports of fixed width; behind them they meet in the banks.
#pragma once

#include <cstdint>

#include "models/memory/scratchpad/bank_map.h"
#include "sim/base/units.h"

namespace systole {

/// Whom the ports of a bank serve.
enum class BankAccess : std::uint8_t {
    Private,  ///< every client has ports of its own in every bank: only its own lines stand in its way
    Split,    ///< read ports and write ports (a two-port SRAM): reads disturb reads, writes disturb writes
    Shared    ///< ports for either (a single-port SRAM): all clients disturb each other
};

struct ScratchpadSpec {
    Bytes capacity;
    int banks = 1;
    Bytes bank_bytes{1};         ///< width of one bank: one line
    int activation_ports = 1;    ///< streams into matrix units at a time; matrix units share them
    Bytes weight_port_bytes{1};  ///< per cycle, towards each matrix unit's weight FIFO
    Bytes dma_port_bytes{1};     ///< per cycle, each direction
    Cycles latency{};            ///< from request to first data, of every port
    BankMapKind bank_map = BankMapKind::Interleaved;
    BankAccess bank_access = BankAccess::Private;
    int bank_ports = 1;  ///< of a bank; Split: of each kind, Private: of each client

    BankMap map() const { return {banks, bank_map}; }
};

}  // namespace systole
