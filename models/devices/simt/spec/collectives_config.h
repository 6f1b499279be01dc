// SPDX-License-Identifier: Apache-2.0
// Reads `collectives.*` of a GPU's configuration.
#pragma once

#include "models/devices/simt/spec/collectives_spec.h"
#include "sim/config/config.h"

namespace systole::simt {

/// Mistakes are recorded in the section's configuration; the caller calls its finish() before use.
CollectivesSpec read_collectives(config::Section collectives);

}  // namespace systole::simt
