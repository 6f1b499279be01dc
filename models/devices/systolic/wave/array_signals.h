// SPDX-License-Identifier: Apache-2.0
// The signals inside a matrix unit: what enters and leaves the array at its edges, every register of every
// PE, and the accumulators that the program uses. They exist on the PE grid only.
#pragma once

#include "models/devices/systolic/machine/matrix_unit.h"
#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/timeline/wave_recorder.h"

namespace systole::systolic {

/// PEs of one array, at most, of which waveforms can be taken.
constexpr std::int64_t kMostTracedPes = 1 << 20;

/// Declares the signals of matrix unit `index` below `path`, its instance. Without `unit` they cannot be
/// read.
void add_array_signals(const std::string& path, const SystolicSpec& spec, const Program& program, int index,
                       const MatrixUnit* unit, SignalSink& sink);

/// Whether the run needs the PE grid: `wave` wants any of them, of any matrix unit, or the tile engine would
/// run folds ahead of time, so that not even queues are seen when they change. Throws UserError for arrays of
/// more than kMostTracedPes.
bool needs_grid(const std::string& root, const SystolicSpec& spec, const Program& program,
                const WaveRecorder& wave);

}  // namespace systole::systolic
