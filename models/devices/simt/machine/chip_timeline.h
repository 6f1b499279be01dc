// SPDX-License-Identifier: Apache-2.0
// The timeline of a chip that has run: what all SMs did, kernel by kernel, with the slots of the result; what
// groups of alike SMs did within each kernel; copies from and to the host; how busy each GPC was.
#pragma once

#include "models/devices/simt/machine/chip.h"
#include "sim/timeline/timeline.h"

namespace systole::simt {

/// Of a chip that kept what it takes (RunOptions::timeline), and of the last run of the network, from its
/// begin on, as `result` is. Tracks: "h100.sms" accounts for the time of all SMs, "h100.sms.group0", ... has
/// SMs that did the same, "h100.copy_in" and "h100.copy_out" the host's. Held to `result`.
Timeline timeline_of(const Chip& chip, const SimtSpec& spec, const ChipPlan& plan,
                     const DeviceResult& result);

}  // namespace systole::simt
