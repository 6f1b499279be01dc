// SPDX-License-Identifier: Apache-2.0
// Reads a DramSpec from the keys below `memory.` and checks that they agree with each other: timing
// parameters against the standard's table and among themselves, the address map against the organisation.
#pragma once

#include "models/memory/standards/dram_spec.h"
#include "sim/config/config.h"

namespace systole {

/// Mistakes are recorded in the section's Config; use the spec only after Config::finish(). `refresh_phase`
/// is not read here: it belongs to the run, not to the memory.
DramSpec read_dram_spec(config::Section memory);

}  // namespace systole
