// SPDX-License-Identifier: Apache-2.0
// Reductions as PyTorch's kernel shares them out among threads (Reduce.cuh: setReduceConfig,
// ReduceConfig::set_block_dimension).
#pragma once

#include "models/devices/simt/kernels/vector_kernel.h"

namespace systole::simt {

/// Of each row: so many threads a row as it has elements, 512 at most; of short rows, as many rows side by
/// side as make 512 threads. CTAs share rows where there are too few.
VectorKernel row_sum_kernel(const Reduce& reduce, DType in, DType out, const SmSpec& sm);
/// Of each column: the same kernel as that of pools of whole maps, with a column for each channel.
VectorKernel column_sum_kernel(const Reduce& reduce, DType in, DType out, const SmSpec& sm);

}  // namespace systole::simt
