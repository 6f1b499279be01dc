// SPDX-License-Identifier: Apache-2.0
// A save file of GTKWave (.gtkw): which signals to show, in groups by unit, in colours and number formats,
// and where to look first. GTKWave opens it instead of the dump, which it names.
#pragma once

#include <string>
#include <vector>

#include "sim/timeline/wave_recorder.h"

namespace systole {

/// `dump`: the file's name, relative to the save file. Scopes below a unit (PEs, accumulator rows) are groups
/// that start closed where there are many. Of very many signals those of the outer scopes are shown; the
/// others are in GTKWave's tree.
std::string gtkwave_save(const WaveRecorder& recorder, const std::string& dump);

}  // namespace systole
