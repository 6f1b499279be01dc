// SPDX-License-Identifier: Apache-2.0
// The list of device kinds: what the key `kind` of a device may say. A new kind is a folder of models/devices
// and a line here.
#pragma once

#include <memory>
#include <string>

#include "sim/config/config.h"
#include "sim/device/device.h"

namespace systole::app {

/// Reads `kind` and then every key of that kind from `config`; the caller calls config.finish() before it
/// uses the device. `name` names it in results.
std::unique_ptr<Device> make_device(config::Config& config, const std::string& name);

/// Reads the same keys and makes nothing of them: also of a configuration that is no machine.
void read_spec(config::Config& config);

}  // namespace systole::app
