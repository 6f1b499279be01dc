// SPDX-License-Identifier: Apache-2.0
// What a warp of a transpose executes: its part of a tile's rows, loaded together, goes to shared memory;
// when all of the CTA's are there, it has its part of the columns, and stores them.
#pragma once

#include "models/devices/simt/kernels/vector_kernel.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Of a kernel of kind Turn.
WarpProgram transpose_program(const VectorKernel& kernel);
/// Shared memory of its tile: a word more in each row, so that a column's words lie in banks of their own.
Bytes shared_by_tile(const VectorKernel& kernel);

}  // namespace systole::simt
