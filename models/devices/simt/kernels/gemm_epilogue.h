// SPDX-License-Identifier: Apache-2.0
// How a warp brings its sums into memory: it scales and converts them, and passes them through shared memory,
// so that each instruction writes whole rows.
#pragma once

#include <cstdint>

#include "models/devices/simt/warp/warp_program.h"
#include "sim/workload/dtype.h"

namespace systole::simt {

/// Of `sums` sums of a warp, which tensor copies bring out of shared memory.
WarpProgram bulk_epilogue(std::int64_t sums, DType out);
/// Of a warp's `rows` x `columns` sums, eight rows at a time: fp32 into shared memory, where all warps of the
/// CTA meet, and out of it as whole rows by stores of the threads (as CUTLASS's epilogue for mma.sync,
/// epilogue/threadblock/epilogue.h). `rows` is a multiple of eight.
WarpProgram warp_epilogue(std::int64_t rows, std::int64_t columns, DType out);

}  // namespace systole::simt
