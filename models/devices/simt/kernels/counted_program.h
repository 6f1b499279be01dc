// SPDX-License-Identifier: Apache-2.0
// Kernels of 2023 that load number by number and wait for it: vLLM 0.2's RMS norm and rotary embedding
// (layernorm_kernels.cu, pos_encoding_kernels.cu), and ATen 2.1's lookups (Indexing.cu,
// indexSelectLargeIndex and indexSelectSmallIndex). How long a warp takes between two loads decides, so
// instructions, their pipes and the cycles that the compiler leaves between them (its stall counts) are those
// of what nvcc makes of these sources for sm_80, in fp16 as c10::Half computes: each operation converts, and
// rounds.
#pragma once

#include <vector>

#include "models/devices/simt/kernels/vector_kernel.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// `set_up`: what a warp does first.
WarpProgram vllm_norm(const VectorKernel& kernel, Section set_up);
/// Warps with so many rounds over queries and over keys, in the order of the warps.
std::vector<Role> vllm_rotary(const VectorKernel& kernel, const Section& set_up);
WarpProgram lookup_by_element(const VectorKernel& kernel, Section set_up);
/// indexSelectSmallIndex: one lookup behind the other.
WarpProgram lookups_in_turn(const VectorKernel& kernel, Section set_up);

}  // namespace systole::simt
