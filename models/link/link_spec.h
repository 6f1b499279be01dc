// SPDX-License-Identifier: Apache-2.0
// What moves data outside the DRAM: DMA engines and the host link.
#pragma once

#include "sim/base/units.h"

namespace systole {

/// A descriptor-driven copy engine.
struct DmaSpec {
    Cycles setup_cycles;  ///< of the core clock, per descriptor
    Bytes in_flight;      ///< read and not yet written at a time: the engine's buffer; at least one payload
    Bytes payload;        ///< largest chunk of one contiguous run that travels as one transaction
};

/// The link to the host (PCIe), full duplex: each direction has the whole bandwidth.
struct HostLinkSpec {
    BytesPerSecond bandwidth;  ///< effective, per direction
    Ticks latency;             ///< one way
};

}  // namespace systole
