// SPDX-License-Identifier: Apache-2.0
// The signals inside a matrix unit: what enters and leaves the array at its edges, every register of every
// PE, and the accumulators that the program uses. They exist on the PE grid only.
#pragma once

#include <string>
#include <vector>

#include "models/devices/systolic/machine/matrix_unit.h"
#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/timeline/wave_signal.h"

namespace systole::systolic {

/// Of very many accumulators, the rows with the first ones are signals.
constexpr std::int64_t kMostTracedAccumulators = 1 << 20;

/// Declares the signals of matrix unit `mxu` below `path`, its instance. Without `unit` they cannot be
/// read.
void add_array_signals(const std::string& path, const SystolicSpec& spec, const Program& program,
                       UnitIndex mxu, const MatrixUnit* unit, SignalSink& sink);

/// Whether any pass of matrix unit `mxu` writes accumulator row n; no row beyond the end is used.
std::vector<bool> used_accumulator_rows(const SystolicSpec& spec, const Program& program, UnitIndex mxu);

}  // namespace systole::systolic
