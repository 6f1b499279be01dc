// SPDX-License-Identifier: Apache-2.0
// Which kernel TensorRT-LLM takes for a step of decoding, as its sources say (decoderXQAImplJIT.cpp,
// kernelUtils.cpp, decoderMaskedMultiheadAttentionLaunch.h):
//
//   XQA   2 to 32 heads that share keys, packed into rows of mma.sync, if at least a quarter of the SMs have
//         a CTA: 256 keys at a time
//   MMHA  all else of one query: a CTA for each head, on FP32 pipes, of 256 threads, or of more where heads
//         and items leave SMs empty; it also rotates the query and the new key and writes these into the
//         cache
#pragma once

#include <optional>

#include "models/devices/simt/kernels/attention_kernel.h"

namespace systole::simt {

/// Of at most kFewQueries queries, with its parts of the keys. Nothing: heads are longer than any has.
std::optional<AttentionKernel> decode_kernel(const Attention& shape, DType dtype, DType output,
                                             const SmSpec& sm);

/// In how many parts XQA's kernels cut the keys (decoderXQAImplCommon.h, computeMultiBlockCount): of 128 keys
/// at least, no more than the root of eight times as many, and not beyond eight CTAs for each SM; 6000 of all
/// sequences together.
std::int64_t splits_of(const AttentionKernel& kernel, const SmSpec& sm);

/// Heads that share keys beyond which each reads them by itself (kernelUtils.cpp, supportConfigHMMA).
constexpr std::int64_t kMostPacked = 32;

/// XQA: keys and elements of a head of a warp's tile.
constexpr std::int64_t kWarpKeys = 64, kWarpColumns = 64;
/// MMHA: keys, and values, that a thread has loads under way for (decoderMaskedMultiheadAttentionTemplate.h,
/// K_LOOP_UNROLL and V_LOOP_UNROLL; parts of the keys go by the latter). Registers of a thread: "the max
/// number of warps we can launch per SM is 32 limited by registers" (mmha_launch_kernel_ex, which gives CTAs
/// of up to 1024 threads).
constexpr std::int64_t kKeysAtOnce = 4, kThreadKeys = 8;
constexpr int kThreadRegisters = 64;

}  // namespace systole::simt
