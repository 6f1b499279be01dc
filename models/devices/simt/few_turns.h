// SPDX-License-Identifier: Apache-2.0
// Networks of many equal blocks, most turns of which are not simulated (sim/device/reuse.h).
#pragma once

#include <optional>

#include "models/devices/simt/kernels/choose.h"
#include "models/devices/simt/kernels/plan.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/account/run_result.h"
#include "sim/device/device.h"

namespace systole::simt {

/// The result of a fused network by runs of shorter ones. Nothing where equal turns are not to be reused
/// (Protocol::reuse; a timeline has all turns; a network that is repeated has caches that the run before
/// left), are few or do not come to agree. Where the chip's power may burst, and draws more at times than it
/// may for long, how far its clock falls is a matter of how long that goes on: then the result is of all
/// turns.
std::optional<DeviceResult> run_few_turns(const Graph& fused, const PlacedTensors& placed,
                                          const SimtSpec& spec, const RunOptions& options,
                                          KernelChooser& chooser);

}  // namespace systole::simt
