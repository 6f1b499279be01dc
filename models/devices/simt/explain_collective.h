// SPDX-License-Identifier: Apache-2.0
// How a collective runs, in words: what the library weighs, what passes the links, what bounds it.
#pragma once

#include <string>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

/// Of a device with a chip link.
std::string explain_collective(const CollectivePlan& plan, const LayerPlan& layer, const SimtSpec& spec);

}  // namespace systole::simt
