// SPDX-License-Identifier: Apache-2.0
// The keys below `calibrated:`: what measurements of a chip say and nothing published explains.
#pragma once

#include "models/devices/systolic/spec/spec.h"
#include "sim/config/config.h"

namespace systole::systolic {

/// Puts what `calibrated` gives in the place of what it is about; without a key `spec` stays as it is.
void read_calibrated(config::Section calibrated, SystolicSpec& spec);

}  // namespace systole::systolic
