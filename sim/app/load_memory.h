// SPDX-License-Identifier: Apache-2.0
// From a reference on the command line to a checked memory and its effective configuration.
#pragma once

#include <string>
#include <vector>

#include "models/memory/dram_spec.h"
#include "sim/app/library.h"

namespace systole::app {

struct LoadedMemory {
    std::string name;  ///< the file's name without ".yaml"
    DramSpec spec;
    std::string effective_yaml;
};

/// Loads, overrides and checks. `settings` are the values of --set: paths of the memory, with or without
/// "memory." before them, and run.refresh_phase. Throws UserError with every mistake of the configuration,
/// and for an ideal memory.
LoadedMemory load_memory(const Library& library, const std::string& reference,
                         const std::vector<std::string>& settings);

}  // namespace systole::app
