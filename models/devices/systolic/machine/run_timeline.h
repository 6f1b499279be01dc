// SPDX-License-Identifier: Apache-2.0
// The timeline of a run that is over: every matrix unit's time, gapless, with its owners; every command on
// its unit's track; how busy each matrix unit was.
#pragma once

#include "models/devices/systolic/machine/machine.h"
#include "sim/timeline/timeline.h"

namespace systole::systolic {

/// Of a machine that kept what it takes (RunOptions::timeline). Tracks are named by instance: "tpu_v4.mxu0"
/// accounts for a matrix unit's time, "tpu_v4.mxu0.passes" has its commands, "tpu_v4.load" those of another
/// unit. Held to `result`.
Timeline timeline_of(const Machine& machine, const DeviceResult& result);

}  // namespace systole::systolic
