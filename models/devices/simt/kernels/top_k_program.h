// SPDX-License-Identifier: Apache-2.0
// What warps of a top-k execute (SortingRadixSelect.cuh, TensorTopK.cu, SortUtils.cuh).
//
//   count, digit by digit   rounds over the row: which of four digits has each element that agrees with those
//                           found so far; votes of a warp, and sums of the warps in shared memory
//   look for the only one   rounds over the row, in each of which all ask whether it was there
//   gather, twice           rounds over the row: what is greater, then what is equal; in each round all warps
//                           count what the others before them have, to know where it goes
//   sort                    another kernel: pairs of elements are compared, and change places, in shared
//   memory
#pragma once

#include "models/devices/simt/kernels/vector_kernel.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Of a kernel of kind TopK.
WarpProgram top_k_program(const VectorKernel& kernel);
Bytes shared_by_counts(const VectorKernel& kernel);
/// Of a kernel of kind Sort.
WarpProgram sort_program(const VectorKernel& kernel);
Bytes shared_by_sorted(const VectorKernel& kernel);

}  // namespace systole::simt
