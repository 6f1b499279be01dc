// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA of mma.sync with one or two stages: CUTLASS's kernels of its main loops
// MmaSingleStage and MmaPipelined (gemm/threadblock/mma_singlestage.h, mma_pipelined.h), which bring operands
// through registers into shared memory. cuBLAS has them for few rows and columns, by wmma
// (cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_tn_align8 and 128x2: 16 x 16 results, steps of
// 128 along K, one and two stages).
//
//   one stage:   stores ─ meet ─ fragments and products of one part of the step after the other ─ meet ─
//                the next step's loads: nothing goes on meanwhile
//   two stages:  fragments of each part ahead of the products of the one before; the next step's loads ahead
//                of the first part's products, their stores into the other stage ahead of the last part's
//
// In this order they stand in CUTLASS's source, and the registers that profiles tell agree with it: 124 of
// 128x2 and 96 to 128 of 128x1, which have no room for more fragments than of two parts and of one beside 64
// of loads. (nvcc 13.0, with registers as it likes, reads all of a step's at once, and takes 160.)
#pragma once

#include "models/devices/simt/kernels/cta_timing.h"
#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/kernels/gemm_program.h"
#include "models/devices/simt/spec/spec.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Whether it is such a kernel's.
bool is_wmma(const CtaTile& tile, TensorIssue issue);

/// Whether every warp has whole products of 16 x 16 and whole loads of 16 bytes a thread.
bool wmma_divides(const CtaTile& tile, const GemmFormats& formats);

/// Of the CTA's stages: rows of both operands lie 16 bytes apart, so that fragments meet all banks
/// (gemm/threadblock/default_mma_core_wmma.h, kPaddingA and kPaddingB).
Bytes wmma_shared_bytes(const CtaTile& tile, const GemmFormats& formats);

/// Without what it takes of shared memory. The tile must divide.
CtaProgram wmma_program(const CtaTile& tile, const GemmFormats& formats, std::int64_t steps);

/// When the loads of a step have left and when their data must be there (`loaded`, `meet`), and what a first
/// step takes besides (`fill`): seen on a CTA that has the SM for itself, whose data come late. The interval
/// is known.
void take_wmma_turns(const CtaTile& tile, const GemmFormats& formats, const SmSpec& sm, CtaTiming& timing);

}  // namespace systole::simt
