// SPDX-License-Identifier: Apache-2.0
// What a warp of a reduction of rows executes: rounds in which each thread has four elements under way, in
// one load or in four, each added to a sum of its own; then sums meet, through shared memory those of warps,
// by shuffles those of threads.
#pragma once

#include "models/devices/simt/kernels/vector_kernel.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Of a kernel of kind RowSum.
WarpProgram row_sum_program(const VectorKernel& kernel);
/// Where warps leave their sums: none where no row has several.
Bytes shared_by_sums(const VectorKernel& kernel);

}  // namespace systole::simt
