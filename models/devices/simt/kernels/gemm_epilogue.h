// SPDX-License-Identifier: Apache-2.0
// How a warp brings its sums into memory: it scales them, does to them what the epilogue says, converts them,
// and passes them through shared memory, so that each instruction writes whole rows (but for MFMA's).
#pragma once

#include <cstdint>

#include "models/devices/simt/kernels/epilogue.h"
#include "models/devices/simt/warp/warp_program.h"
#include "sim/workload/dtype.h"

namespace systole::simt {

/// What a warp's sums become.
struct WarpResults {
    std::int64_t rows = 0, columns = 0;
    DType out = DType::Bf16;
    Epilogue epilogue = {};
    std::int64_t threads = 32;  ///< of the warp
};

/// Results leave shared memory by tensor copies. The matrix to join is copied into it, too, by who arrives at
/// `barrier` with it.
WarpProgram bulk_epilogue(const WarpResults& results, int barrier);
/// Sums lie in tensor memory: a piece of them is loaded, and leaves through the warp's 2 KiB of shared memory
/// when the piece before has left them. nvjet has no more: 176x128_64x8_..._2cta and 32x256_64x6_... leave 11
/// KiB of an SM's 227 beside their stages, which hold 8 KiB of results once.
WarpProgram tensor_epilogue(const WarpResults& results, int barrier);
/// Eight rows at a time: fp32 into shared memory, where all warps of the CTA meet, and out of it as whole
/// rows by stores of the threads (as CUTLASS's epilogue for mma.sync, epilogue/threadblock/epilogue.h), which
/// also load what is to be joined. `rows` is a multiple of eight.
WarpProgram warp_epilogue(const WarpResults& results);
/// MFMA: what an instruction leaves in a thread's registers, 16 sums at most at a time, is stored as it lies,
/// four neighbours of a column by each thread (Tensile, StoreVectorWidth 4).
WarpProgram wave_epilogue(const WarpResults& results);

}  // namespace systole::simt
