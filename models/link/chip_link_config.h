// SPDX-License-Identifier: Apache-2.0
// Reads `chip_link.*` of a device's configuration.
#pragma once

#include <optional>

#include "models/link/link_spec.h"
#include "sim/config/config.h"

namespace systole {

/// Of a device without that section, nothing. Mistakes are recorded in the configuration; the caller calls
/// its finish() before use.
std::optional<ChipLinkSpec> read_chip_link_spec(const config::Section& root);

}  // namespace systole
