// SPDX-License-Identifier: Apache-2.0
// The keys below `placement:`: what lies where in the scratchpad, and how networks are mapped.
#pragma once

#include "models/devices/systolic/spec/spec.h"
#include "sim/config/config.h"

namespace systole::systolic {

/// Whether the areas fit the scratchpad is not asked. Complaints wait in the configuration.
PlacementSpec read_placement(config::Section placement);

}  // namespace systole::systolic
