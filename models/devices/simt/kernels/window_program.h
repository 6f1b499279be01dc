// SPDX-License-Identifier: Apache-2.0
// What a warp of a kernel of windows executes: pools, and depthwise convolutions on FP32 pipes.
#pragma once

#include "models/devices/simt/kernels/vector_kernel.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Values that a thread of such a kernel loads together, at most.
std::int64_t window_values(const VectorKernel& kernel);

/// Of a kernel of kind Window. Each row of a window is a step: a load for each of its columns, of which the
/// L1 has those that neighbours' windows had. Where warps share windows, a step is what all have under way.
WarpProgram window_program(const VectorKernel& kernel);

}  // namespace systole::simt
