// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/attention_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/devices/simt/kernels/decode_kernel.h"

namespace systole::simt {
namespace {

constexpr AttentionDesign kTiled = AttentionDesign::Tiled;

struct Sized {
    std::int64_t dim;
    AttentionTile tile;
};

// Named in the library's kernels for compute capability 8.0 ("…_64_128_S_qkv_128_sm80", "…_nl_tiled"), where
// heads are padded to powers of two (setup.py). That they cut heads in 64 elements is assumed: rows of 128
// bytes of shared memory. Exponentials of 2 in the place of those of e have kernels of wgmma only
// (fmhaRunner.cpp, useBase2ExpTrick).
constexpr std::int64_t kSlice = 64;
constexpr std::array<Sized, 4> kWarpTiles{{{32, {kTiled, 128, 128, 32, 4, 1, 0, true}},
                                           {64, {kTiled, 128, 128, 64, 4, 1, kSlice, true}},
                                           {128, {kTiled, 64, 128, 128, 4, 1, kSlice, true}},
                                           {256, {kTiled, 64, 128, 256, 4, 1, kSlice, true}}}};
// For as few keys the tiles that are cut along the head, too, have none (fmhaRunner.cpp, setupLaunchParams).
constexpr std::int64_t kShortKeys = 64;
constexpr AttentionTile short_tile(std::int64_t dim) {
    return {kTiled, 64, dim > 128 ? 16 : 32, dim, 4, 1, 0, true};
}
// MFMA: rows of queries at most, and keys by the elements of a head (ck_tile's split-KV kernels).
constexpr std::int64_t kFewRows = 64, kRowsOfMma = 16;
constexpr std::int64_t few_keys(std::int64_t dim) {
    return dim <= 64 ? 256 : dim <= 128 ? 128 : 64;
}
// select_kv_loop_step; kernels are there for 32, 64, 128 and 256 (setup.py: powers of two, to which heads are
// padded).
constexpr std::array<Sized, 4> kGroupTiles{{{32, {kTiled, 128, 256, 32, 8, 2}},
                                            {64, {kTiled, 128, 256, 64, 8, 2}},
                                            {128, {kTiled, 128, 128, 128, 8, 2}},
                                            {256, {kTiled, 128, 64, 256, 8, 2}}}};

// MFMA: ck_tile's fmha_fwd (example/ck_tile/01_fmha, codegen/ops/fmha_fwd.py): 128 rows, blocks of 64 or 128
// keys, 32 elements of a head (keys of a block's values) at a time.
constexpr std::int64_t kWaveSlice = 32;
constexpr std::array<Sized, 4> kWaveTiles{{{32, {kTiled, 128, 64, 32, 4, 1, kWaveSlice, true}},
                                           {64, {kTiled, 128, 64, 64, 4, 1, kWaveSlice, true}},
                                           {128, {kTiled, 128, 128, 128, 4, 1, kWaveSlice, true}},
                                           {256, {kTiled, 128, 128, 256, 4, 1, kWaveSlice, true}}}};

/// Of causal kernels: items of a panel (the last one has fewer), all of their tiles in each.
AttentionPlace place_in_panels(const AttentionKernel& kernel, std::int64_t index) {
    const std::int64_t tiles = kernel.tiles(), panel = index / (kernel.panel * tiles);
    const std::int64_t first = panel * kernel.panel;
    const std::int64_t items = std::min(kernel.panel, kernel.items() - first);
    const std::int64_t within = index - first * tiles;
    std::int64_t item = first + within % items;
    if (kernel.items_first) item = item % kernel.shape.batch * kernel.heads() + item / kernel.shape.batch;
    return {item, tiles - 1 - within / items, 0};
}

/// The last query of the tile, and its first one.
std::int64_t last_query(const AttentionKernel& kernel, const AttentionPlace& place) {
    return (std::min(kernel.rows(), (place.tile + 1) * kernel.tile.m) - 1) / kernel.together();
}
std::int64_t first_query(const AttentionKernel& kernel, const AttentionPlace& place) {
    return place.tile * kernel.tile.m / kernel.together();
}

/// Of the CTA's part of the keys, whether anybody sees them or not. XQA deals blocks out one by one: parts
/// have as many or one less, and some none where parts are more (here they lie one behind the other). MMHA's
/// parts are of keys.
KeyRange part_of(const AttentionKernel& kernel, const AttentionPlace& place) {
    const auto begin = [&](std::int64_t part) {
        std::int64_t key = part * kernel.blocks_of_part() * kernel.tile.n;
        if (kernel.tile.design == AttentionDesign::Specialized)
            key = part * kernel.blocks() / kernel.splits * kernel.tile.n;
        if (kernel.in_two_passes()) key = part * kernel.keys_of_part();
        return std::min(kernel.shape.kv_len, key);
    };
    return {begin(place.part), begin(place.part + 1)};
}

}  // namespace

AttentionPlace place_of(const AttentionKernel& kernel, std::int64_t index) {
    const std::int64_t of_part = kernel.items() * kernel.tiles();
    const std::int64_t part = index / of_part, within = index % of_part;
    AttentionPlace place;
    if (kernel.panel > 0)
        place = place_in_panels(kernel, within);
    else
        place = {within / kernel.tiles(), within % kernel.tiles(), 0};
    place.part = part;
    return place;
}

KeyRange keys_of(const AttentionKernel& kernel, const AttentionPlace& place) {
    const KeyRange part = part_of(kernel, place);
    return {part.begin, std::min(part.end, kernel.shape.visible(last_query(kernel, place)))};
}

// Those of wgmma go on to where a tile's last row would see, also beyond the sequence (dma.h and compute.h,
// compute_kv_tile_idx): with heads of 256 elements a tile of up to 64 queries has a second block.
std::int64_t steps_of(const AttentionKernel& kernel, const AttentionPlace& place) {
    const KeyRange keys = keys_of(kernel, place);
    const std::int64_t last = (place.tile + 1) * kernel.tile.m - 1;
    const bool whole = kernel.tile.stages > 1 && kernel.shape.causal && kernel.splits == 1;
    const std::int64_t end = whole ? kernel.shape.visible(last / kernel.together()) : keys.end;
    return ceil_div(std::max(keys.size(), end - keys.begin), kernel.tile.n);
}

// The first query sees all keys of a block without a mask, and the block is whole.
std::int64_t masked_steps_of(const AttentionKernel& kernel, const AttentionPlace& place) {
    const KeyRange keys = keys_of(kernel, place);
    const std::int64_t seen = std::min(keys.end, kernel.shape.visible(first_query(kernel, place)));
    const std::int64_t whole = seen > keys.begin ? (seen - keys.begin) / kernel.tile.n : 0;
    return steps_of(kernel, place) - whole;
}

std::int64_t rows_of(const AttentionKernel& kernel, const AttentionPlace& place) {
    return std::clamp(kernel.rows() - place.tile * kernel.tile.m, std::int64_t{0}, kernel.tile.m);
}

std::int64_t pairs_of(const AttentionKernel& kernel, const AttentionPlace& place) {
    const KeyRange part = part_of(kernel, place);
    const std::int64_t begin = place.tile * kernel.tile.m, end = begin + rows_of(kernel, place);
    const auto seen = [&](std::int64_t query) {
        return std::clamp(kernel.shape.visible(query) - part.begin, std::int64_t{0},
                          std::max<std::int64_t>(0, part.end - part.begin));
    };
    if (!kernel.shape.causal) return (end - begin) * seen(0);
    std::int64_t sum = 0;
    for (std::int64_t row = begin; row < end; ++row) sum += seen(row / kernel.together());
    return sum;
}

std::optional<AttentionKernel> attention_kernel(const Attention& shape, DType dtype, DType output,
                                                const SmSpec& sm) {
    const std::int64_t dim = std::max(shape.head_dim, shape.value_dim());
    const bool few = is_step_of_decoding(shape);
    const auto take = [&](const auto& tiles) -> std::optional<AttentionTile> {
        for (const Sized& sized : tiles)
            if (dim <= sized.dim) return sized.tile;
        return std::nullopt;
    };
    const bool groups = sm.tensor.issue == TensorIssue::WarpGroup;
    const bool waves = sm.tensor.issue == TensorIssue::Wave;
    if (few && !waves) return decode_kernel(shape, dtype, output, sm);
    const std::optional<AttentionTile> tile = groups  ? take(kGroupTiles)
                                              : waves ? take(kWaveTiles)
                                                      : take(kWarpTiles);
    if (!tile) return std::nullopt;
    AttentionKernel kernel{shape, dtype, output, *tile};
    if (!groups && !waves && shape.kv_len <= kShortKeys) kernel.tile = short_tile(tile->dim);
    if (!few) return kernel;
    kernel.packed = shape.group() > 1 && shape.group() <= kMostPacked;
    kernel.tile = {};
    kernel.tile.m = std::min(kFewRows, round_up(kernel.rows(), kRowsOfMma));
    kernel.tile.n = few_keys(dim);
    kernel.tile.dim = tile->dim;
    kernel.splits = splits_of(kernel, sm);
    return kernel;
}

std::string to_string(const AttentionKernel& kernel) {
    const AttentionTile& tile = kernel.tile;
    std::string text;
    if (tile.design == AttentionDesign::Threads)
        text = fmt::format("masked attention of {} keys at a time, heads of {}, {} warps", tile.n, tile.dim,
                           tile.warps);
    else
        text =
            fmt::format("flash attention {}x{}, heads of {}, {} warps", tile.m, tile.n, tile.dim, tile.warps);
    if (kernel.together() > 1) text += fmt::format(", {} heads packed", kernel.together());
    if (kernel.splits > 1) text += fmt::format(", {} parts of the keys", kernel.splits);
    return text;
}

}  // namespace systole::simt
