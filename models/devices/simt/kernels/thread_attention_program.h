// SPDX-License-Identifier: Apache-2.0
// The warp program of a CTA of TensorRT-LLM's MMHA kernel (decoderMaskedMultiheadAttentionTemplate.h), which
// attends with one query on FP32 pipes: rotates it and the new key, then goes over all keys, over all scores,
// and over all values. Some threads share a row of keys (16 bytes each), each has eight rows under way, whose
// pages it looks up; what lies behind the last key is computed, and left out. In the end groups of threads
// add up their results two by two.
//
// Instructions are counted in the source; integer ones of a row: its number cut to the last one, the page's
// place in the table, and the place of the row in the page, in 64 bits.
#pragma once

#include "models/devices/simt/kernels/attention_program.h"
#include "models/devices/simt/kernels/decode_kernel.h"

namespace systole::simt {

/// `work.steps`: blocks of keys and then as many of values, together.
CtaProgram thread_attention_program(const AttentionTile& tile, const AttentionFormats& formats,
                                    const AttentionWork& work, const SmSpec& sm);

/// The first warp is a role of its own, which loads the query before the first keys.
constexpr int kLeader = 0;
constexpr std::int64_t kQueryLoads = 1;
/// Warps that have rows of keys, and of values, in a block, and loads of keys of each of them, some at once.
struct WarpsOfRows {
    int keys = 1, values = 1;
    std::int64_t loads_of_keys = kThreadKeys;
};
WarpsOfRows warps_of_rows(const AttentionTile& tile, DType dtype, int lanes);
/// Which load of its steps it is, of a warp of this role.
inline std::int64_t load_of_steps(int role, std::int64_t number) {
    return number - (role == kLeader ? kQueryLoads : 0);
}
/// Which step it is of, among `blocks` of keys and as many of values, and which load of that step.
struct LoadOfStep {
    std::int64_t step, number;
};
inline LoadOfStep load_of_step(const WarpsOfRows& rows, std::int64_t blocks, std::int64_t load) {
    const std::int64_t of_keys = blocks * rows.loads_of_keys, of_values = load - of_keys;
    if (load < of_keys) return {load / rows.loads_of_keys, load % rows.loads_of_keys};
    return {blocks + of_values / kThreadKeys, of_values % kThreadKeys};
}

}  // namespace systole::simt
