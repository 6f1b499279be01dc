// SPDX-License-Identifier: Apache-2.0
// Reads a device program that to_text() wrote, perhaps edited since, and checks that this machine can run it.
#pragma once

#include <string>
#include <string_view>

#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"

namespace systole::systolic {

/// Throws UserError with every mistake, as `file:line:column`: malformed lines, units and places the machine
/// lacks, addresses outside its memories, passes that do not fit its array, and layers whose commands do not
/// add up to their MACs. Tokens that never come are not found here: the simulation then stands still.
Program parse_program(std::string_view text, const std::string& file, const SystolicSpec& spec);

}  // namespace systole::systolic
