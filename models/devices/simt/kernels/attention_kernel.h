// SPDX-License-Identifier: Apache-2.0
// One attention kernel as plain values: a CTA has a tile of rows of queries, goes over its keys block by
// block, and keeps what it has of the result in registers (online softmax):
//
//   for each block of keys:  S = Q K^T,  P = exp(S - max),  O = O * rescale + P V
//
// Rows are queries of one head or, packed, those of all heads that share keys, query by query. Where rows are
// too few for the chip, each CTA takes a part of the keys and leaves its sums in fp32, which a second kernel
// joins (split-KV). Tiles are TensorRT-LLM's (cpp/kernels/fmha_v2):
//
//   mma.sync   64 rows and blocks of 128 keys, for heads of up to 64 elements 128 rows
//   wgmma      two groups of 64 rows each, and blocks of 256, 128 and 64 keys for heads of up to 64, 128 and
//              256 elements
//   MFMA       ck_tile's: 128 rows, blocks of 64 keys for heads of up to 64 elements, else of 128
//
// Steps of decoding have kernels of their own (decode_kernel.h).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "models/devices/simt/spec/spec.h"
#include "sim/base/units.h"
#include "sim/workload/dtype.h"
#include "sim/workload/operators.h"

namespace systole::simt {

/// How a CTA's warps share the work.
enum class AttentionDesign : std::uint8_t {
    Tiled,        ///< fmha_v2, ck_tile: each has rows of queries (or keys) and does both products
    Specialized,  ///< XQA (cpp/kernels/xqa/mha.cu): warps of scores, and warps of values
    Threads       ///< MMHA (masked_multihead_attention_kernel): one query, on FP32 pipes
};

struct AttentionTile {
    AttentionDesign design = AttentionDesign::Tiled;
    std::int64_t m = 128, n = 64;  ///< rows of queries, keys of a block
    std::int64_t dim = 128;        ///< of a row of queries and of one of values: heads are padded to it
    int warps = 4;                 ///< that compute; of wgmma, in groups of four
    int stages = 1;                ///< blocks of keys and of values, each, that lie in shared memory
    /// Elements of a head, and then keys of a block's values, that are copied at a time, the next while these
    /// are multiplied; 0: whole blocks.
    std::int64_t slice = 0;
    /// Scores are scaled and lessened by the largest before the exponential, which is one of e: three
    /// instructions in the place of a multiply-add.
    bool base_e = false;
    /// Cycles until the length of a sequence, the number of one of its pages, or the next tile's is there; 0:
    /// they are known.
    std::int64_t table = 0;
    /// Of prefills: keys and values lie in the pages of a cache, whose numbers are looked up; otherwise rows
    /// lie one behind the other.
    bool paged = false;
    /// On FP32 pipes: of `n`, keys that the sequence has; warps without any wait for the others.
    std::int64_t keys = 0;
    friend auto operator<=>(const AttentionTile&, const AttentionTile&) = default;
};

struct AttentionKernel {
    Attention shape;
    DType dtype = DType::Bf16, output = DType::Bf16;
    AttentionTile tile;
    bool packed = false;      ///< rows are those of all heads that share keys
    std::int64_t splits = 1;  ///< parts of the keys; above 1 a second kernel joins their sums
    /// Causal: CTAs of so many heads at a time, those with most keys first; 0: one head behind the other,
    /// those with fewest keys first.
    std::int64_t panel = 0;
    /// Of a panel of all heads, those of the same number of all items lie next to each other.
    bool items_first = false;

    /// Heads of queries whose rows lie in one tile.
    std::int64_t together() const { return packed ? shape.group() : 1; }
    std::int64_t heads() const { return shape.heads / together(); }
    std::int64_t rows() const { return shape.q_len * together(); }
    std::int64_t tiles() const { return ceil_div(rows(), tile.m); }
    /// Independent of each other: heads (or sets of them) of all items.
    std::int64_t items() const { return shape.batch * heads(); }
    /// What CTAs write, and the share of a tile's results that are rows of it.
    DType stored() const {
        return splits > 1 && tile.design == AttentionDesign::Tiled ? DType::Fp32 : output;
    }
    double stored_share() const {
        return static_cast<double>(rows() * shape.value_dim()) /
               static_cast<double>(tiles() * tile.m * tile.dim);
    }
    std::int64_t ctas() const { return items() * tiles() * splits; }
    /// Keys and values of a block are a step each: all keys come before all values.
    bool in_two_passes() const { return tile.design == AttentionDesign::Threads; }
    /// Blocks of all keys, and of a part of them.
    std::int64_t blocks() const { return ceil_div(shape.kv_len, tile.n); }
    std::int64_t blocks_of_part() const {
        return in_two_passes() ? ceil_div(keys_of_part(), tile.n) : ceil_div(blocks(), splits);
    }
    /// In two passes, of one part: the library counts the new key twice.
    std::int64_t keys_of_part() const { return std::min(shape.kv_len, ceil_div(shape.kv_len + 1, splits)); }
    friend bool operator==(const AttentionKernel&, const AttentionKernel&) = default;
};

/// Where a CTA works: `tile` of the rows of `item`, part `part` of the keys.
struct AttentionPlace {
    std::int64_t item = 0, tile = 0, part = 0;
    friend bool operator==(const AttentionPlace&, const AttentionPlace&) = default;
};

/// Of CTA number `index`, in the order in which they are dispatched. Parts of the keys go slowest, tiles of a
/// head fastest, or those of a panel of heads, whose last tiles (which see most keys) come first.
AttentionPlace place_of(const AttentionKernel& kernel, std::int64_t index);

/// Keys that rows of a tile see, and those of its part that they see: [begin, end).
struct KeyRange {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end > begin ? end - begin : 0; }
};
KeyRange keys_of(const AttentionKernel& kernel, const AttentionPlace& place);
/// Blocks that the CTA goes over, of causal kernels of wgmma also those that only rows beyond the last query
/// would see; those of them in which some of its rows do not see all keys.
std::int64_t steps_of(const AttentionKernel& kernel, const AttentionPlace& place);
std::int64_t masked_steps_of(const AttentionKernel& kernel, const AttentionPlace& place);
/// Rows of the tile that are queries, and pairs of them with keys of the part that they see.
std::int64_t rows_of(const AttentionKernel& kernel, const AttentionPlace& place);
std::int64_t pairs_of(const AttentionKernel& kernel, const AttentionPlace& place);

/// Queries of an item that are so few, with keys before them, are a step of decoding: rows of all heads that
/// share keys are packed, and keys are split where CTAs are few.
constexpr std::int64_t kFewQueries = 16;
inline bool is_step_of_decoding(const Attention& shape) {
    return shape.q_len <= kFewQueries && shape.q_len < shape.kv_len;
}

/// The kernel that a library takes for it, all keys in one part. Nothing: heads are longer than any has.
std::optional<AttentionKernel> attention_kernel(const Attention& shape, DType dtype, DType output,
                                                const SmSpec& sm);

/// "flash attention 128x64, heads of 128, 4 warps"; "…, 4 heads packed, 9 parts of the keys".
std::string to_string(const AttentionKernel& kernel);

}  // namespace systole::simt
