// SPDX-License-Identifier: Apache-2.0
// Reads `host.*` of a device's configuration.
#pragma once

#include "models/link/link_spec.h"
#include "sim/config/config.h"

namespace systole {

/// Mistakes are recorded in the section's configuration; the caller calls its finish() before use.
HostLinkSpec read_host_link_spec(config::Section host);

}  // namespace systole
