// SPDX-License-Identifier: Apache-2.0
// The line of a program text that describes work of the vector unit:
// `vector layer=0 elements=32 lane_cycles=32 read=8 written=32 reads_at=0:4096 writes_at=1:0
// operand=outputs`.
#pragma once

#include <vector>

#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/program/program_line.h"
#include "models/devices/systolic/spec/spec.h"

namespace systole::systolic {

/// Reads the keys of a vector command; its accesses may name `streams`. Mistakes are recorded in the line.
VectorWork read_vector(ProgramLine& line, const SystolicSpec& spec,
                       const std::vector<AddressStream>& streams);

}  // namespace systole::systolic
