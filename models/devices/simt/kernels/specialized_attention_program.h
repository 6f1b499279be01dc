// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA of TensorRT-LLM's XQA kernel (cpp/kernels/xqa/mha.cu), for a step of decoding
// with mma.sync: four warps have the scores of 64 keys each, four others bring values and multiply with them.
//
//   warps of scores: copy keys 128 bytes of each head at a time, one ahead;  S = Q K^T;  exp(S - max)
//        │ shares of 16 or 32 rows x 64 keys, maxima and sums, through shared memory
//   warps of values: copy values of 64 keys x 64 elements at a time, one ahead;  O = O * rescale + P V
//
// Where heads are shorter than 256 elements, groups of warps of values have every second (fourth) tile of
// keys, and join their results in the end. Keys, values and shares take about 140 KiB of shared memory, so
// that an SM has room for one CTA, and nobody works while it waits: for the length of its sequence, for the
// number of its page, for its keys, and its warps for each other.
#pragma once

#include "models/devices/simt/kernels/attention_program.h"

namespace systole::simt {

CtaProgram specialized_attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                                         const AttentionWork& work, const SmSpec& sm);

/// Warps that have scores, and those that have values.
int score_warps(const AttentionTile& tile);
int value_warps(const AttentionTile& tile);

}  // namespace systole::simt
