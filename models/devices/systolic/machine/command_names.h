// SPDX-License-Identifier: Apache-2.0
// Commands and waits in words, for timelines.
#pragma once

#include <string>

#include "models/devices/systolic/program/program.h"
#include "sim/account/classes.h"

namespace systole::systolic {

/// Layer and tile: "conv1 m 0+128 k 64+64 n 0+64" (first + extent) of a pass, "weights of conv1" of a
/// transfer, "drain conv1 m 0+128 n 0+64" or "vector pool1" of the vector unit.
std::string command_name(const Program& program, const Command& command);

/// What a matrix unit waited for while this command was in a state that `owner` has: "memory: weights of
/// conv1", "ramp: tile of conv1".
std::string wait_name(const Program& program, const Command& command, SlotClass owner);

/// The track of a unit's commands: "tpu.load", "tpu.mxu0.passes", "tpu.mxu0.weights", of several cores
/// "tpu.core1.load". `machine`: its name.
std::string command_track(const std::string& machine, const Program& program, UnitIndex unit);

}  // namespace systole::systolic
