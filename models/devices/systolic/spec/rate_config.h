// SPDX-License-Identifier: Apache-2.0
// The table `mxu.rate`: by number format, or by two of them, what a PE does in a cycle.
#pragma once

#include "models/devices/systolic/spec/spec.h"

namespace systole::systolic {

/// Reads `mxu.rate: {int8: 2, bf16: 1, int16xint8: 1/2}` into `spec`. Complaints wait in the configuration.
void read_rates(config::Section mxu, MxuSpec& spec);

}  // namespace systole::systolic
