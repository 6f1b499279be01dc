// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA of a GEMM whose operands pass through registers into shared memory: the next
// step's are loaded while this one is multiplied, in its first products; when most products are done they are
// stored into shared memory, between products too, and all warps meet. With two buffers of shared memory they
// go into the other one; with one, all warps meet before the stores as well, having read what they need.
//
//   memory ─ StepLoad ─► registers ─ SharedStore ─► shared memory ─ SharedLoad ─► fragments ─► Mma, Fma
//
// MFMA (CDNA): as Tensile (rocBLAS, hipBLASLt) lays it out, one load behind each product (PrefetchGlobalRead
// 1, GlobalReadPerMfma 1; 1LDSBuffer 0 or 1). mma.sync.m8n8k4 (Volta): as CUTLASS's pipelined main loop
// (MmaPipelined, gemm/threadblock/mma_pipelined.h). FP32 pipes: as S. Gray's SGEMM (maxas) and CUTLASS's
// SIMT kernels, whose main loop is the same one.
//
// `slices`: warps that share the steps' K add their sums through shared memory, each of a part of the rows.
#pragma once

#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Whether kernels of that issue bring operands through registers.
bool is_staged(TensorIssue issue);

/// Whether every warp has whole instructions and whole loads of 16 bytes a thread.
bool staged_divides(const CtaTile& tile, const GemmFormats& formats, TensorIssue issue);

/// Without what it takes of shared memory. The tile must divide.
CtaProgram staged_program(const CtaTile& tile, const GemmFormats& formats, std::int64_t steps,
                          TensorIssue issue);

/// Shares of a step's products: behind which its last load has left, and behind which the last of the next
/// step's data must be there.
struct StepShares {
    double loaded = 0, stored = 0;
};
StepShares staged_step_shares(const CtaTile& tile, const GemmFormats& formats, TensorIssue issue);

}  // namespace systole::simt
