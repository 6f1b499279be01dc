// SPDX-License-Identifier: Apache-2.0
#include "models/link/dma_config.h"

namespace systole {

DmaSpec read_dma_spec(config::Section dma) {
    DmaSpec spec;
    spec.setup_cycles = Cycles(dma.count("setup_cycles", "core cycles per descriptor", {0, 100000}));
    spec.in_flight =
        dma.bytes("in_flight", "buffer of an engine: bytes read and not yet written", {1, 1 << 28});
    spec.payload =
        dma.bytes("payload", "largest contiguous chunk that travels as one transaction", {1, 1 << 24});
    return spec;
}

}  // namespace systole
