// SPDX-License-Identifier: Apache-2.0
// What a GPU's operations and bytes take: the section `energy` for its SMs and caches.
#pragma once

#include <optional>
#include <string>

#include "models/devices/simt/spec/spec.h"
#include "sim/account/device_energy.h"
#include "sim/config/config.h"

namespace systole::simt {

/// The operations that rows count.
inline std::string mac_name(DType dtype) {
    return std::string(to_string(dtype)) + " mac";
}
inline constexpr const char *kInstruction = "instruction", *kRegisterByte = "register byte",
                            *kSharedByte = "shared byte", *kFp32Operation = "fp32 operation",
                            *kIntegerOperation = "integer operation",
                            *kSpecialOperation = "special operation";

/// Nothing without the section, or where the memory has no figures (ideal). Everything else of `spec` must
/// have been read.
std::optional<DeviceEnergySpec> read_simt_energy(const config::Section& root, const SimtSpec& spec);

}  // namespace systole::simt
