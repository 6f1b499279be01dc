// SPDX-License-Identifier: Apache-2.0
// A banked on-chip scratchpad (unified buffer, VMEM): lines of `bank_bytes` are dealt out to the banks in
// turn; each bank serves one line a cycle to the activation streams. Other clients have ports of their own.
#pragma once

#include "sim/base/units.h"

namespace systole {

struct ScratchpadSpec {
    Bytes capacity;
    int banks = 1;
    Bytes bank_bytes;          ///< width of one bank: one line
    int activation_ports = 1;  ///< streams into matrix units at a time; matrix units share them
    Bytes weight_port_bytes;   ///< per cycle, towards each matrix unit's weight FIFO
    Bytes dma_port_bytes;      ///< per cycle, each direction
    Cycles latency;            ///< from request to first data, of every port
};

}  // namespace systole
