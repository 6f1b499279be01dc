// SPDX-License-Identifier: Apache-2.0
// The section `cost` of a device, the same for every kind.
#pragma once

#include <vector>

#include "sim/account/cost.h"
#include "sim/config/config.h"

namespace systole {

/// Prices of the device, none without the section; where they are from is told by name_origins().
CostSpec read_cost(const config::Section& device);

/// Puts into words where the prices are from; `entries` are the effective configuration's.
void name_origins(CostSpec& spec, const std::vector<config::Entry>& entries);

}  // namespace systole
