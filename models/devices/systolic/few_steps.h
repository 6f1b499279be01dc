// SPDX-License-Identifier: Apache-2.0
// Long layers: of many equal steps of a program the first and the last are simulated, and stand for the
// others by the rules of equal turns of a block (sim/device/reuse.h).
#pragma once

#include <optional>

#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/account/run_result.h"
#include "sim/device/device.h"

namespace systole::systolic {

/// The program's result, a row for each of its layers. Nothing where all is to be simulated: it has no steps
/// that repeat often enough, is short, or too short for what refreshes may change, its steps do not come to
/// agree, or somebody wants to see each (a timeline, values, launches of single layers).
std::optional<DeviceResult> run_few_steps(const Program& program, const SystolicSpec& spec,
                                          const RunOptions& options);

}  // namespace systole::systolic
