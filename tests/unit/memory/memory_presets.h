// SPDX-License-Identifier: Apache-2.0
// The shipped memories (configs/memory), read as the program reads them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/memory/standards/dram_spec.h"
#include "sim/config/config.h"

namespace systole::test {

/// Names of all files of configs/memory, sorted.
std::vector<std::string> memory_names();

/// The configuration of one, with what it extends.
config::Config memory_config(const std::string& name);

/// The spec of one, with `settings` as --set gives them; throws UserError where the program would.
DramSpec memory_spec(const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& settings = {});

}  // namespace systole::test
