// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA of a GEMM, as CUTLASS and cuBLAS lay it out:
//
// mma.sync (Ampere): every warp copies its part of the step that is `stages` - 1 ahead (cp.async) while it
// multiplies: fragments of the next 16 (or 32) of K are loaded from shared memory behind the products of
// these; all warps meet once a step.
//
// MFMA (CDNA), mma.sync.m8n8k4 (Volta), fp32 without tensor cores: see staged_program.h.
//
// A convolution's rows of A are gathered: each copy of an Ampere warp has a pointer and masks of taps of its
// own, which take instructions at every step; Hopper's copying warp names the tap (im2col mode of tensor
// copies).
//
// tcgen05.mma (Blackwell): see thread_mma_program.h.
//
// wgmma (Hopper): one warp copies whole blocks (cp.async.bulk.tensor) into a ring of stages; groups of four
// warps multiply straight out of shared memory, and give a stage back once the next one's products are under
// way; what the epilogue joins it copies behind the last step.
#pragma once

#include <vector>

#include "models/devices/simt/kernels/epilogue.h"
#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/spec/spec.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Number formats of a CTA's operands and of what it writes (fp32 for parts of a split product), and what it
/// does before it writes.
struct GemmFormats {
    DType in = DType::Bf16, out = DType::Bf16;
    Epilogue epilogue = {};
    bool gathers = false;     ///< rows of A, out of a map (conv_gather.h)
    BlockScales blocks = {};  ///< of both operands
    friend auto operator<=>(const GemmFormats&, const GemmFormats&) = default;
};

/// Of the CTAs that multiply.
GemmFormats formats_of(const GemmKernel& kernel);

/// Whether the tile can be cut among its warps at all: every warp has whole instructions of the tensor core,
/// and every copy is of whole instructions.
bool divides(const CtaTile& tile, const GemmFormats& formats, TensorIssue issue);

/// `steps` steps along K, which may be none; the tile must divide.
CtaProgram gemm_program(const CtaTile& tile, const GemmFormats& formats, std::int64_t steps,
                        const SmSpec& sm);

/// wgmma and tcgen05.mma: of a persistent CTA, which does tiles of so many steps one behind the other. The
/// copying warp goes on with the next tile as stages become free; with wgmma the others wait until a tile's
/// bulk stores are answered.
CtaProgram persistent_program(const CtaTile& tile, const GemmFormats& formats,
                              const std::vector<std::int64_t>& steps, const SmSpec& sm);

/// Of a program whose results lie only partly in the matrix: its threads' stores are of so much less, in
/// whole sectors; and so are bulk stores of sums in tensor memory, which wait for each other's.
CtaProgram storing(CtaProgram program, double share);

/// mma.sync: the share of a step's products behind which its copies have been issued and all warps meet.
/// Warps of a sub-core take turns, so that each gets there at a time of its own; of the CTA's products this
/// many are done.
double before_last_part(const CtaTile& tile, const GemmFormats& formats);
/// Steps whose data are asked for before the first is used.
int steps_ahead(const CtaTile& tile, TensorIssue issue);

/// CTAs of the program that an SM holds at a time: by warps, registers, shared memory, and places. 0: it does
/// not fit. Registers are dealt to four warps at a time; or `by_warp`: a 16x16_128x1 of 128 registers is told
/// to find room for ten CTAs of one warp on an SM of an L4 (Nsight Compute: shared memory is the limit),
/// where registers of four each would do for four. Of other CTAs of one warp no profile tells.
int occupancy(const CtaProgram& program, const SmSpec& sm, bool by_warp = false);

}  // namespace systole::simt
