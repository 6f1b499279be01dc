// SPDX-License-Identifier: Apache-2.0
// Long kernels: of many CTAs that all do the same some stand for others (machine/cta_sample.h).
#pragma once

#include <optional>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/machine/cta_sample.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/account/run_result.h"
#include "sim/device/device.h"

namespace systole::simt {

/// How the CTAs of the layer's kernel with the most of them may be watched; nothing where some meet other
/// data than those before them, store too little to be written back before the kernel ends, or are too few.
std::optional<CtaTurns> cta_turns(const LayerPlan& layer, const SimtSpec& spec);

/// The result of a plan of one layer that has such a kernel. Nothing where there is none, or all is to be
/// simulated (Protocol::reuse, a timeline, repeated runs, SMs in warps), where the last CTAs do not bear out
/// those that stand for others, or, if a timeline is wanted of a run that simulates all, where none of them
/// tell the mean.
std::optional<DeviceResult> run_few_ctas(const ChipPlan& plan, const SimtSpec& spec,
                                         const RunOptions& options);

}  // namespace systole::simt
