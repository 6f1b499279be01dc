// SPDX-License-Identifier: Apache-2.0
// From the text of a device, as a user would write it, to its configuration and to its specification.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/devices/systolic/spec/spec.h"
#include "sim/config/config.h"

namespace systole::test {

/// Paths and values, as `--set` takes them.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// `kind` has been read; memories are the shipped ones. The caller reads the device and calls finish().
inline config::Config config_of(const std::string& text, const Settings& settings = {}) {
    const auto presets = [](const std::string& name, const SourceMark&) {
        return config::load_yaml("configs/memory/" + name + ".yaml");
    };
    config::Config config = config::Config::from_document(config::parse_yaml(text, "random.yaml"), presets);
    for (const auto& [path, value] : settings) config.set(path, value);
    config.root().text("kind", "device kind");
    return config;
}

inline systolic::SystolicSpec spec_of(const std::string& text, const Settings& settings = {}) {
    config::Config config = config_of(text, settings);
    systolic::SystolicSpec spec = systolic::read_systolic_spec(config, "random");
    config.finish();
    return spec;
}

}  // namespace systole::test
