// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA that adds parts of K: every thread loads 16 bytes of each part, and what the
// epilogue needs besides, adds them up, does to the sums what the epilogue says, and stores them.
#pragma once

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Loads and stores are of `bytes` of whole warps, shared out evenly among the CTA's.
CtaProgram stream_program(const StreamPlan& plan);

}  // namespace systole::simt
