// SPDX-License-Identifier: Apache-2.0
// Levels and rates of a machine that has run, over time: bandwidth of the memory, queues behind the
// sequencer, tiles in weight FIFOs, bytes that DMA engines have under way.
#pragma once

#include "models/devices/systolic/machine/machine.h"
#include "sim/timeline/timeline.h"

namespace systole::systolic {

/// Of a machine that kept what it takes (RunOptions::timeline), until `end`. Levels are means over bins.
std::vector<CounterTrack> counters_of(const Machine& machine, Ticks end);

}  // namespace systole::systolic
