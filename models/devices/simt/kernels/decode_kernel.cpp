// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/decode_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace systole::simt {
namespace {

constexpr std::int64_t kLeastKeys = 128;  // of a part (kMinHistoryTokensPerBlock)
constexpr std::int64_t kMostHeads = 256;  // elements of one
constexpr std::int64_t kRowsOfMma = 16, kMostRows = 32;
constexpr int kTileWarps = 4;  // that have scores, and as many values

/// Few CTAs would leave most SMs empty (mayHavePerfGain, kEnableMinBlockFactor).
bool fills_a_quarter(const Attention& shape, const SmSpec& sm) {
    const std::int64_t parts = std::max<std::int64_t>(1, shape.kv_len / kLeastKeys);
    return shape.kv_heads * shape.batch * parts * 4 >= sm.count;
}

bool is_packed(const Attention& shape, const SmSpec& sm) {
    if (shape.q_len > 1) return true;  // no other takes several queries
    return shape.group() > 1 && shape.group() <= kMostPacked && fills_a_quarter(shape, sm);
}

AttentionKernel packed_kernel(AttentionKernel kernel, std::int64_t dim, const SmSpec& sm) {
    const Attention& shape = kernel.shape;
    kernel.packed = shape.group() > 1 && shape.group() <= kMostPacked;
    AttentionTile& tile = kernel.tile;
    tile.design = AttentionDesign::Specialized;
    tile.m = std::min(kMostRows, round_up(kernel.rows(), kRowsOfMma));
    tile.n = std::min(kTileWarps * kWarpKeys, round_up(shape.kv_len, kWarpKeys));
    tile.dim = std::max(kWarpColumns, dim);
    tile.warps = 2 * kTileWarps;
    kernel.splits = splits_of(kernel, sm);
    return kernel;
}

/// A CTA has as many threads as leave no SM empty, and then as many parts of the keys, as long as there are
/// more of these than its threads load at once (mmha_launch_kernel_ex, multi_block_grid_setup, whose tlength
/// has the new key, too: as many keys as threads load at once already are two parts).
AttentionKernel thread_kernel(AttentionKernel kernel, std::int64_t dim, const SmSpec& sm) {
    constexpr std::int64_t kThreads = 256, kMostThreads = 1024;
    constexpr std::int64_t kBytesOfKeys = 24, kKeys = 4, kSystem = 2048;  // fp32 and 16 bits of each score
    const Attention& shape = kernel.shape;
    const std::int64_t heads = shape.batch * shape.heads;
    const std::int64_t fit = std::max<std::int64_t>(1, sm.registers / (kThreads * kThreadRegisters));
    const std::int64_t factor = std::min(fit, ceil_div(sm.count * fit, heads));
    const auto threads = static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(std::min(kThreads * factor, kMostThreads))));
    AttentionTile& tile = kernel.tile;
    tile.design = AttentionDesign::Threads;
    tile.m = 1;
    tile.dim = dim;
    tile.warps = static_cast<int>(threads / sm.warp_threads);
    tile.n = threads * 16 / (dim * bits_of(kernel.dtype).value() / 8) * kThreadKeys;
    const std::int64_t places = std::max<std::int64_t>(1, sm.registers / (threads * kThreadRegisters));
    const std::int64_t least = std::max<std::int64_t>(
        1, ceil_div(ceil_div(shape.kv_len, kKeys),
                    std::max<std::int64_t>(1, (sm.shared.most_of_cta.value() - kSystem) / kBytesOfKeys)));
    const std::int64_t most = std::max(
        least, std::min(ceil_div(shape.kv_len + 1, tile.n), ceil_div(std::int64_t{sm.count}, heads)));
    kernel.splits = std::clamp(ceil_div(sm.count * places, heads), least, most);
    return kernel;
}

}  // namespace

std::optional<AttentionKernel> decode_kernel(const Attention& shape, DType dtype, DType output,
                                             const SmSpec& sm) {
    const std::int64_t longest = std::max(shape.head_dim, shape.value_dim());
    if (longest > kMostHeads) return std::nullopt;
    const auto dim = std::max<std::int64_t>(
        32, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(longest))));
    const AttentionKernel kernel{shape, dtype, output, {}};
    return is_packed(shape, sm) ? packed_kernel(kernel, dim, sm) : thread_kernel(kernel, dim, sm);
}

std::int64_t splits_of(const AttentionKernel& kernel, const SmSpec& sm) {
    constexpr double kMostWaves = 8;
    constexpr std::int64_t kMostOfAll = 6000;
    const std::int64_t most = kernel.shape.kv_len / kLeastKeys;
    auto parts = static_cast<double>(most);
    parts = std::max(1.0, std::min(parts, std::round(std::sqrt(parts * 8))));
    const double waves =
        static_cast<double>(kernel.items() * kernel.tiles()) * parts / static_cast<double>(sm.count);
    if (waves > kMostWaves) parts = std::max(1.0, std::floor(parts / (waves / kMostWaves)));
    const std::int64_t of_all = std::max<std::int64_t>(1, kMostOfAll / kernel.shape.batch);
    const std::int64_t all = std::min(static_cast<std::int64_t>(parts), of_all);
    return kernel.tile.design == AttentionDesign::Specialized ? all : std::min(all, kernel.blocks());
}

}  // namespace systole::simt
