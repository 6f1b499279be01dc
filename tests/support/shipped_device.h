// SPDX-License-Identifier: Apache-2.0
// The specification of a device, presets and memories being the shipped ones.
#pragma once

#include <string>

#include "models/devices/systolic/spec/spec.h"
#include "sim/config/config.h"
#include "sim/config/yaml.h"
#include "sim/device/cost_config.h"
#include "tests/support/shipped_preset.h"

namespace systole::test {

/// Throws UserError as `systole show device` would refuse it.
inline systolic::SystolicSpec spec_of_document(const config::YamlNode& document) {
    config::Config config = config::Config::from_document(document, shipped_preset);
    config.root().text("kind", "device kind");
    config.root().text("fidelity", "how far published facts carry", "detailed");
    systolic::SystolicSpec spec = systolic::read_systolic_spec(config, "device");
    read_cost(config.root());
    config.finish();
    return spec;
}

}  // namespace systole::test
