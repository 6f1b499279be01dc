// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA of an attention kernel.
//
// mma.sync, as FlashAttention-2 lays it out: all warps copy (cp.async) and compute. Values of a block are
// copied while its keys are multiplied, keys of the next block behind that. Each warp has 16 rows or a
// multiple; where the tile has fewer rows, warps share the keys of a block and join their results in the end.
//
// wgmma, as fmha_v2's warp-specialized kernels: one warp copies whole blocks of keys and values into rings of
// stages; two groups of four warps have 64 rows each. Kernels for bf16 have no mutex that would let one
// multiply while the other does its softmax (setup.py, enable_mutex). The tensor cores take instructions of
// both by turns (Sm), so that their products of a block end together, and with them the groups stay in step.
// Assumed: they begin each block together (left to themselves they would drift apart here, as warps that
// always issue in the same order do, and leave each other the pipes).
//
// MFMA, as ck_tile's (block_fmha_pipeline_qr_ks_vs_async.hpp): the same with four warps of 32 rows, slices of
// 32 elements that threads copy by 4 bytes each, queries in registers. That values are copied so, too (there
// they pass through registers), is assumed.
#pragma once

#include <vector>

#include "models/devices/simt/kernels/attention_kernel.h"
#include "models/devices/simt/spec/spec.h"
#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// What a CTA of an attention kernel does: so many blocks of keys, of which the masked ones have rows that do
/// not see all of them.
struct AttentionWork {
    std::int64_t steps = 1, masked = 0;
    friend auto operator<=>(const AttentionWork&, const AttentionWork&) = default;
};

/// Number formats of queries, keys and values, and of what is written (fp32 for parts of the keys).
struct AttentionFormats {
    DType in = DType::Bf16, out = DType::Bf16;
    friend auto operator<=>(const AttentionFormats&, const AttentionFormats&) = default;
};

CtaProgram attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                             const AttentionWork& work, const SmSpec& sm);
/// wgmma: of a persistent CTA, which does such tiles one behind the other: its copying warp goes on with the
/// next one's as places become free.
CtaProgram attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                             const std::vector<AttentionWork>& tiles, const SmSpec& sm);

/// Whether its CTAs multiply with wgmma.
bool by_groups(const AttentionTile& tile, const SmSpec& sm);

}  // namespace systole::simt
