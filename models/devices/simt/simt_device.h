// SPDX-License-Identifier: Apache-2.0
// The SIMT device kind: configuration in, Device out.
#pragma once

#include <memory>
#include <string>

#include "sim/config/config.h"
#include "sim/device/device.h"

namespace systole::simt {

/// Reads every key of the device from `config`; the caller calls config.finish() before it uses the device.
/// `name` is the root of instance paths and the device's name in results.
std::unique_ptr<Device> make_simt_device(config::Config& config, const std::string& name);

}  // namespace systole::simt
