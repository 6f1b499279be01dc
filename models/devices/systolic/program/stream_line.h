// SPDX-License-Identifier: Apache-2.0
// The line of a program text that describes a pattern of activation reads:
// `stream levels=1*0,56*7424,56*128 segments=0+128,7424+128`.
#pragma once

#include <cstdint>

#include "models/devices/systolic/mxu/port_schedule.h"
#include "models/devices/systolic/program/program_line.h"

namespace systole::systolic {

/// Reads the keys of a `stream` line; strides, offsets and sizes may not exceed `scratchpad` bytes. Mistakes
/// are recorded in the line.
AddressStream read_stream(ProgramLine& line, std::int64_t scratchpad);

}  // namespace systole::systolic
