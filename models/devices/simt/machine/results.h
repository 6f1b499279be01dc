// SPDX-License-Identifier: Apache-2.0
// From a chip that has run to the result: rows of layers, total, counters; held to all invariants.
#pragma once

#include "models/devices/simt/machine/chip.h"
#include "sim/account/run_result.h"
#include "sim/device/reuse.h"

namespace systole::simt {

/// Of a network that runs once, with the marks that the chip was asked for.
MarkedRun marked_run(Chip& chip, const SimtSpec& spec, const ChipPlan& plan, const Protocol& protocol,
                     const std::vector<std::size_t>& marks);

DeviceResult result_of(Chip& chip, const SimtSpec& spec, const ChipPlan& plan, const Protocol& protocol);

/// Of a plan of one layer, some CTAs of which may have been left out.
DeviceResult sampled_result(Chip& chip, const SimtSpec& spec, const ChipPlan& plan, const Protocol& protocol,
                            const CtaSample& sample);

}  // namespace systole::simt
