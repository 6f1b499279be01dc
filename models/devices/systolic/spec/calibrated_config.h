// SPDX-License-Identifier: Apache-2.0
// The keys below `calibrated:`: what measurements of a chip say and nothing published explains.
#pragma once

#include "models/devices/systolic/spec/spec.h"
#include "sim/config/config.h"

namespace systole::systolic {

/// Puts what `calibrated:` of a device gives in the place of what it is about; without a key `spec` stays as
/// it is. A mistake where --set asks for what a calibrated value then replaces.
void read_calibrated(config::Section device, SystolicSpec& spec);

}  // namespace systole::systolic
