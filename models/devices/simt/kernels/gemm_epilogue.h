// SPDX-License-Identifier: Apache-2.0
// How a warp brings its sums into memory: it scales and converts them, and passes them through shared memory,
// so that each instruction writes whole rows.
#pragma once

#include <cstdint>

#include "models/devices/simt/warp/warp_program.h"
#include "sim/workload/dtype.h"

namespace systole::simt {

/// Of `sums` sums of one warp. `bulk`: shared memory is copied out by tensor copies, otherwise by stores of
/// the threads.
WarpProgram gemm_epilogue(std::int64_t sums, DType out, bool bulk);

}  // namespace systole::simt
