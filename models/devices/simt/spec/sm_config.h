// SPDX-License-Identifier: Apache-2.0
// The keys below `sm:`: one SM, and how many there are.
#pragma once

#include "models/devices/simt/spec/spec.h"
#include "sim/config/config.h"

namespace systole::simt {

/// Complaints, those about what does not fit together included, wait in the configuration.
SmSpec read_sm(config::Section sm);

}  // namespace systole::simt
