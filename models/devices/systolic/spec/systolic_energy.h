// SPDX-License-Identifier: Apache-2.0
// What a systolic device's operations and bytes take: the section `energy` for its arrays and SRAMs.
#pragma once

#include <optional>
#include <string>

#include "models/devices/systolic/spec/spec.h"
#include "sim/account/device_energy.h"

namespace systole::systolic {

/// The operations that rows count: "bf16 mac", or of two formats "int16xint8 mac", activations first.
std::string mac_name(DType first, std::optional<DType> second);
inline constexpr const char* kLaneOperation = "lane operation";

/// Nothing without the section, or where the memory has no figures (ideal). Everything else of `spec` must
/// have been read.
std::optional<DeviceEnergySpec> read_systolic_energy(const config::Section& root, const SystolicSpec& spec);

}  // namespace systole::systolic
