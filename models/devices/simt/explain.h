// SPDX-License-Identifier: Apache-2.0
// One layer on a GPU in words and drawings (`systole explain`).
#pragma once

#include <string>

#include "models/devices/simt/kernels/choose.h"
#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/account/run_result.h"

namespace systole::simt {

/// `plan`: of one layer, perhaps in several runs; `result`: what came of it, and `counters` of all
/// runs; `chooser`: the one that planned it.
std::string explain(const ChipPlan& plan, const SimtSpec& spec, const DeviceResult& result,
                    KernelChooser& chooser);

}  // namespace systole::simt
