// SPDX-License-Identifier: Apache-2.0
// What a DRAM's commands and its background took, from what its channels counted.
#pragma once

#include <string>

#include "models/memory/controller/dram_channel.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/account/energy_ledger.h"

namespace systole {

/// Enters the commands in `counts` (all pseudo-channels together) and the background power of all of them
/// over `elapsed`; nothing if the spec has no figures. `path` is the component's. An activation brings its
/// precharge with it, also of a row that is still open.
void enter_energy(const DramSpec& spec, const DramChannel::Stats& counts, Ticks elapsed,
                  const std::string& path, EnergyLedger& ledger);

}  // namespace systole
