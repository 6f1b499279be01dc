// SPDX-License-Identifier: Apache-2.0
// What a warp does between the two products of attention: online softmax of a block of scores, in
// instructions, as FlashAttention-2 (csrc/flash_attn/src/softmax.h) and fmha_v2 (src/fmha/warpspec/compute.h)
// have it.
#pragma once

#include <cstdint>

#include "models/devices/simt/warp/warp_program.h"

namespace systole::simt {

/// Of a warp: rows and columns of its scores, columns of its results, and whether rows see all columns.
struct ScoreBlock {
    std::int64_t rows = 16, keys = 64, dim = 128;
    bool masked = false;
    bool base_e = false;           ///< AttentionTile::base_e
    std::int64_t threads = 32;     ///< of the warp
    std::int64_t row_threads = 4;  ///< that share a row of what the tensor cores leave
};

/// Registers of a warp, in groups: scores and then shares, results, and what rows have (largest score, sum).
constexpr int kScoreGroups = 16, kResultGroups = 16;
constexpr RegisterGroups score_group(std::int64_t number) {
    return RegisterGroups{1} << (16 + number % kScoreGroups);
}
constexpr RegisterGroups result_group(std::int64_t number) {
    return RegisterGroups{1} << (32 + number % kResultGroups);
}
constexpr RegisterGroups kAllScores = RegisterGroups{0xffff} << 16;
constexpr RegisterGroups kAllResults = RegisterGroups{0xffff} << 32;
constexpr RegisterGroups kOfRows = RegisterGroups{1} << 48;

/// For each score: a mask, if any, is a comparison and a selection; the largest of a row a maximum (on the
/// integer pipe, as instruction_mix.h has it), over the four threads that share it two shuffles; exp(s - max)
/// a multiply-add (or two multiplications and an addition) and an ex2; the sum an addition, and two shuffles;
/// half a conversion to 16 bits. For each row: an ex2 of what the largest has grown by, with which the sum
/// and all results are multiplied.
void add_online_softmax(const ScoreBlock& block, Section& section);
/// Behind the last one: reciprocals of rows' sums. (Epilogues multiply with them.)
void add_normalization(const ScoreBlock& block, Section& section);

}  // namespace systole::simt
