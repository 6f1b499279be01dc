// SPDX-License-Identifier: Apache-2.0
// What `extends:` and `preset:` name in documents of tests: the shipped files. Tests run in the project's
// folder.
#pragma once

#include <filesystem>
#include <string>

#include "sim/base/error.h"
#include "sim/config/yaml.h"

namespace systole::test {

/// A config::Config::Resolver. Throws UserError at `where` where nothing is called `name`.
inline config::YamlNode shipped_preset(const std::string& name, const SourceMark& where) {
    for (const char* const shelf :
         {"configs/devices/", "configs/memory/", "configs/energy/", "configs/cost/"})
        if (const std::string file = shelf + name + ".yaml"; std::filesystem::exists(file))
            return config::load_yaml(file);
    throw UserError(where, "there is no preset '" + name + "'");
}

}  // namespace systole::test
