// SPDX-License-Identifier: Apache-2.0
// From a chip that has run to the result: rows of layers, total, counters; held to all invariants.
#pragma once

#include "models/devices/simt/machine/chip.h"
#include "sim/account/run_result.h"
#include "sim/device/reuse.h"
#include "sim/timeline/timeline.h"

namespace systole::simt {

/// Of a network that runs once, with the marks that the chip was asked for.
MarkedRun marked_run(Chip& chip, const SimtSpec& spec, const ChipPlan& plan, const Protocol& protocol,
                     const std::vector<std::size_t>& marks);

DeviceResult result_of(Chip& chip, const SimtSpec& spec, const ChipPlan& plan, const Protocol& protocol);

/// A bar for the launch of every kernel, and one for the kernel itself.
std::vector<Span> spans_of(const Chip& chip, const ChipPlan& plan);

}  // namespace systole::simt
