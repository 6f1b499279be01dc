// SPDX-License-Identifier: Apache-2.0
// The machine that a waveform is taken of: with the PE grid where registers are wanted, and otherwise with
// the tile engine, which takes less time and is the same to the cycle.
#pragma once

#include <string>

#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/timeline/wave_recorder.h"

namespace systole::systolic {

/// PEs of one array, at most, of which waveforms can be taken.
constexpr std::int64_t kMostTracedPes = 1 << 20;

/// The specification of that machine; `root` is the name of its instance. Throws UserError for arrays above
/// kMostTracedPes, and for registers of a machine that the grid cannot simulate.
SystolicSpec traced_machine(const SystolicSpec& spec, const Program& program, const std::string& root,
                            const WaveRecorder& wave);

/// Throws UserError for arrays above kMostTracedPes.
void refuse_large_array(const SystolicSpec& spec);

}  // namespace systole::systolic
