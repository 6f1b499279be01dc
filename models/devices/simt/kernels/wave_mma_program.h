// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA of a GEMM for MFMA, as Tensile (rocBLAS, hipBLASLt) lays it out: operands of the
// next step are loaded into registers while this one is multiplied, one load behind each product from the
// step's begin on (PrefetchGlobalRead 1, GlobalReadPerMfma 1); when most products are done they are stored
// into shared memory, between products too, and all warps meet. With two buffers of shared memory (1LDSBuffer
// 0) they go into the other one; with one, all warps meet before the stores as well, having read what they
// need.
//
//   memory ─ StepLoad ─► registers ─ SharedStore ─► shared memory ─ SharedLoad ─► fragments ─► Mma
#pragma once

#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Whether every warp has whole instructions (32 x 32 or 16 x 16 results) and whole loads of 16 bytes a
/// thread.
bool wave_mma_divides(const CtaTile& tile, const GemmFormats& formats);

/// Without what it takes of shared memory. The tile must divide.
CtaProgram wave_mma_program(const CtaTile& tile, const GemmFormats& formats, std::int64_t steps);

/// Shares of a step's products: behind which its last load has left, and behind which the last of the next
/// step's data must be there.
struct StepShares {
    double loaded = 0, stored = 0;
};
StepShares wave_step_shares(const CtaTile& tile, const GemmFormats& formats);

}  // namespace systole::simt
