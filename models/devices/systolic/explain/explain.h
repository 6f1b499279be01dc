// SPDX-License-Identifier: Apache-2.0
// One operator on a systolic accelerator in words and plain-character drawings, for architects and for a
// class: the matrix product it is, how it lies on the array, one pass cycle by cycle, cycles by formula
// beside the simulated ones, and why the utilization is what it is.
#pragma once

#include <functional>
#include <string>

#include "models/devices/systolic/lowering/mapping_choice.h"
#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/account/run_result.h"
#include "sim/device/device.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// Runs the operator on a machine that may differ from the one explained. Throws UserError where it cannot.
using Simulate = std::function<DeviceResult(const SystolicSpec&, const Protocol&)>;

/// Explains the only layer of `graph`, lowered to `program` for `spec`, with what the mapper weighed
/// (`choice`; nothing for an operator that no array works on). Every number comes from the program, the
/// mapper, the tile engine or a run. Throws UserError when the operator cannot run there.
std::string explain(const Graph& graph, const Program& program, const MappingChoice* choice,
                    const SystolicSpec& spec, const Protocol& protocol, const Simulate& simulate);

}  // namespace systole::systolic
