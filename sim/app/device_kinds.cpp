// SPDX-License-Identifier: Apache-2.0
#include "sim/app/device_kinds.h"

#include <array>
#include <vector>

#include "models/devices/simt/simt_device.h"
#include "models/devices/systolic/systolic_device.h"

namespace systole::app {
namespace {

struct DeviceKind {
    const char* name;
    std::unique_ptr<Device> (*make)(config::Config& config, const std::string& name);
};

constexpr std::array kKinds{
    DeviceKind{"systolic", systolic::make_systolic_device},
    DeviceKind{"simt", simt::make_simt_device},
};

}  // namespace

std::unique_ptr<Device> make_device(config::Config& config, const std::string& name) {
    std::vector<std::string> names;
    for (const DeviceKind& kind : kKinds) names.emplace_back(kind.name);
    return kKinds[config.root().choice("kind", "which model simulates the device", names)].make(config, name);
}

}  // namespace systole::app
