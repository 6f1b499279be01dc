// SPDX-License-Identifier: Apache-2.0
// From a layer that chips do together to the library's kernel.
#pragma once

#include <string>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/workload/graph.h"

namespace systole::simt {

/// Without places. `element`: of its tensors. Throws UserError at the layer's mark where the device has no
/// link to other chips, or not to so many.
CollectivePlan plan_collective(const Layer& layer, Bits element, const SimtSpec& spec);

/// "ring, Simple, 24 CTAs, 197.1 GB/s on the bus".
std::string to_string(const CollectivePlan& plan);

}  // namespace systole::simt
