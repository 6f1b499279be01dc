// SPDX-License-Identifier: Apache-2.0
// The machine that can be followed by hand, for readers that need one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/devices/systolic/systolic_device.h"
#include "sim/device/cost_config.h"
#include "tests/support/shipped_preset.h"

namespace systole::fuzz {

/// What `resolve` knows besides shipped presets is up to it; `settings` as --set has them. Throws UserError
/// as the program does.
inline std::unique_ptr<Device> teaching_machine(
    const std::vector<std::pair<std::string, std::string>>& settings,
    const config::Config::Resolver& resolve = test::shipped_preset) {
    config::Config config =
        config::Config::from_document(config::load_yaml("configs/devices/teaching_4x4.yaml"), resolve);
    for (const auto& [path, value] : settings) config.set(path, value);
    config.root().text("kind", "device kind");
    read_cost(config.root());
    std::unique_ptr<Device> device = systolic::make_systolic_device(config, "teaching_4x4");
    config.finish();
    return device;
}

}  // namespace systole::fuzz
