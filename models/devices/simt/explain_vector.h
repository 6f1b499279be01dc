// SPDX-License-Identifier: Apache-2.0
// A layer that no tensor core works in, in words.
#pragma once

#include <string>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"

namespace systole::simt {

/// The kernel, its grid, a CTA's way, and what holds it back at the very least; all but what was simulated.
std::string explain_vector(const VectorPlan& plan, const LayerPlan& layer, const SimtSpec& spec);

}  // namespace systole::simt
