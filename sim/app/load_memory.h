// SPDX-License-Identifier: Apache-2.0
// From a reference on the command line to a checked memory and its effective configuration.
#pragma once

#include <string>
#include <vector>

#include "models/memory/standards/dram_spec.h"
#include "sim/app/library.h"
#include "sim/config/config.h"

namespace systole::app {

struct LoadedMemory {
    std::string name;  ///< the file's name without ".yaml"
    std::string title;
    std::string about;  ///< what the comment at the head of its file says: lines of text
    DramSpec spec;
    std::vector<config::Entry> entries;
    std::string effective_yaml;
};

/// Loads, overrides and checks. `settings` are the values of --set: paths of the memory, with or without
/// "memory." before them, and run.refresh_phase. Throws UserError with every mistake of the
/// configuration.
LoadedMemory load_memory(const Library& library, const std::string& reference,
                         const std::vector<std::string>& settings);

}  // namespace systole::app
