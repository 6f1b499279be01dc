// SPDX-License-Identifier: Apache-2.0
// Steps of a layer that a program repeats: the same commands again and again, but for where their operands
// lie. A product is a loop over its blocks, and a long sum one over pieces of K.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/devices/systolic/program/program.h"

namespace systole::systolic {

/// Commands [first, first + steps * commands) of a program: `steps` times the same, for one layer.
struct RepeatedSteps {
    std::int32_t layer = 0;
    std::size_t first = 0;     ///< command
    std::size_t commands = 0;  ///< of a step
    std::size_t steps = 0;
    std::size_t end() const { return first + steps * commands; }
    friend bool operator==(const RepeatedSteps&, const RepeatedSteps&) = default;
};

/// The longest such ranges of at least `least` steps each and 1/64 of the program, in its order, none within
/// another. Two commands are the same if they do the same work for the same unit, wherever its operands lie,
/// and wait for commands of other units that were issued as many of these before. Commands that look rows up
/// are never the same. A step loads as many tiles into weight FIFOs as it uses.
std::vector<RepeatedSteps> find_repeated_steps(const Program& program, std::size_t least);

}  // namespace systole::systolic
