// SPDX-License-Identifier: Apache-2.0
// Reads the keys of a DMA engine: `dma.*` of a systolic device, `copy.*` of a GPU.
#pragma once

#include "models/link/link_spec.h"
#include "sim/config/config.h"

namespace systole {

/// Mistakes are recorded in the section's configuration; the caller calls its finish() before use.
DmaSpec read_dma_spec(config::Section dma);

}  // namespace systole
