// SPDX-License-Identifier: Apache-2.0
// Repeated steps in turns that are the same: so many together that operands meet the same places of the
// memory again in each.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/program/repeated_steps.h"

namespace systole::systolic {

/// Blocks, or parts of them, in turns of so many steps that all turns are the same; none of what has too few
/// of them. `cycle`: bytes around all channels, banks and columns of the memory, a power of two.
std::vector<RepeatedSteps> in_turns(const Program& program, const std::vector<RepeatedSteps>& blocks,
                                    std::int64_t cycle);

}  // namespace systole::systolic
