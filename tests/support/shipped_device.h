// SPDX-License-Identifier: Apache-2.0
// The specification of a device, presets and memories being the shipped ones.
#pragma once

#include <filesystem>
#include <string>

#include "models/devices/systolic/spec/spec.h"
#include "sim/config/config.h"
#include "sim/config/yaml.h"
#include "sim/device/cost_config.h"

namespace systole::test {

/// Throws UserError as `systole show device` would refuse it.
inline systolic::SystolicSpec spec_of_document(const config::YamlNode& document) {
    const auto presets = [](const std::string& name, const SourceMark& where) {
        for (const char* const shelf :
             {"configs/devices/", "configs/memory/", "configs/energy/", "configs/cost/"})
            if (std::filesystem::exists(shelf + name + ".yaml"))
                return config::load_yaml(shelf + name + ".yaml");
        throw UserError(where, "there is no preset '" + name + "'");
    };
    config::Config config = config::Config::from_document(document, presets);
    config.root().text("kind", "device kind");
    config.root().text("fidelity", "how far published facts carry", "detailed");
    systolic::SystolicSpec spec = systolic::read_systolic_spec(config, "device");
    read_cost(config.root());
    config.finish();
    return spec;
}

}  // namespace systole::test
