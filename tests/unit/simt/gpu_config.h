// SPDX-License-Identifier: Apache-2.0
// A GPU's configuration from text, as a user would write it; presets and memories are the shipped ones.
#pragma once

#include <string>

#include "models/devices/simt/spec/simt_config.h"
#include "sim/base/error.h"
#include "sim/config/config.h"
#include "sim/config/yaml.h"
#include "sim/device/cost_config.h"
#include "tests/support/shipped_preset.h"

namespace systole::test {

/// `kind`, `fidelity` and `cost`, which are of any device, have been read, nothing else.
inline config::Config gpu_config(const std::string& text) {
    config::Config config =
        config::Config::from_document(config::parse_yaml(text, "mine.yaml"), shipped_preset);
    config.root().text("kind", "device kind");
    config.root().text("fidelity", "how far published facts carry", "detailed");
    read_cost(config.root());
    return config;
}

/// Throws UserError as a command would refuse it.
inline simt::SimtSpec gpu_spec(const std::string& text) {
    config::Config config = gpu_config(text);
    simt::SimtSpec spec = simt::read_simt_spec(config, "mine");
    config.finish();
    return spec;
}

/// A shipped GPU.
inline simt::SimtSpec shipped_gpu(const std::string& name) {
    return gpu_spec("device: Mine\nextends: " + name + "\n");
}

}  // namespace systole::test
