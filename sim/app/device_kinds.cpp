// SPDX-License-Identifier: Apache-2.0
#include "sim/app/device_kinds.h"

#include <array>
#include <vector>

#include "models/devices/simt/simt_device.h"
#include "models/devices/simt/spec/simt_config.h"
#include "models/devices/systolic/spec/spec.h"
#include "models/devices/systolic/systolic_device.h"

namespace systole::app {
namespace {

struct DeviceKind {
    const char* name;
    std::unique_ptr<Device> (*make)(config::Config& config, const std::string& name);
    void (*read)(config::Config& config);
};

constexpr std::array kKinds{
    DeviceKind{"systolic", systolic::make_systolic_device,
               [](config::Config& config) { systolic::read_systolic_spec(config, ""); }},
    DeviceKind{"simt", simt::make_simt_device,
               [](config::Config& config) { simt::read_simt_spec(config, ""); }},
};

const DeviceKind& read_kind(config::Config& config) {
    std::vector<std::string> names;
    for (const DeviceKind& kind : kKinds) names.emplace_back(kind.name);
    return kKinds[config.root().choice("kind", "which model simulates the device", names)];
}

}  // namespace

std::unique_ptr<Device> make_device(config::Config& config, const std::string& name) {
    return read_kind(config).make(config, name);
}

void read_spec(config::Config& config) {
    read_kind(config).read(config);
}

}  // namespace systole::app
