// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/stream_k.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sim/base/checked.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kLeastSteps = 2;  // of a share: less does not hide its data's latency

/// Shares differ by one step at most; the first ones are the longer ones.
std::int64_t begin_of_share(std::int64_t share, std::int64_t steps, std::int64_t shares) {
    return steps / shares * share + std::min(share, steps % shares);
}

/// Gives slots to all pieces but their tiles' first ones, which are told what to add.
void join_pieces(std::vector<StreamPiece>& pieces) {
    std::map<std::int64_t, std::vector<std::int64_t>> others;  // by tile
    std::int64_t slots = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (pieces[i].begin == 0) continue;
        pieces[i].slot = slots++;
        others[pieces[i].tile].push_back(static_cast<std::int64_t>(i));
    }
    for (StreamPiece& piece : pieces)
        if (piece.begin == 0 && others.count(piece.tile) > 0) piece.adds = others[piece.tile];
}

}  // namespace

std::optional<GemmKernel> with_shared_tiles(const GemmKernel& kernel, std::int64_t places) {
    GemmKernel shared = kernel;
    shared.shared_tiles = kernel.tiles() % places;
    if (kernel.split_k > 1 || shared.shared_tiles == 0) return std::nullopt;
    shared.streams = std::min(places, shared.shared_tiles * kernel.steps() / kLeastSteps);
    if (shared.streams <= shared.shared_tiles) return std::nullopt;
    return shared;
}

std::vector<StreamPiece> stream_pieces(const GemmKernel& kernel) {
    std::vector<StreamPiece> pieces, second;
    const std::int64_t steps = kernel.steps(), all = kernel.shared_tiles * steps;
    const std::int64_t whole = kernel.tiles() - kernel.shared_tiles;
    for (std::int64_t share = 0; share < kernel.streams; ++share) {
        const std::int64_t begin = begin_of_share(share, all, kernel.streams);
        const std::int64_t end = begin_of_share(share + 1, all, kernel.streams);
        const std::int64_t tile = begin / steps, in_tile = std::min(end, (tile + 1) * steps);
        pieces.push_back({whole + tile, begin % steps, in_tile - begin, {}, {}});
        // No share is longer than a tile: there are at least as many shares as tiles.
        if (end > in_tile) second.push_back({whole + tile + 1, 0, end - in_tile, {}, {}});
    }
    std::stable_sort(second.begin(), second.end(),
                     [](const StreamPiece& a, const StreamPiece& b) { return a.steps > b.steps; });
    pieces.insert(pieces.end(), second.begin(), second.end());
    join_pieces(pieces);
    return pieces;
}

std::int64_t divided_tiles(const GemmKernel& kernel) {
    const std::vector<StreamPiece> pieces = stream_pieces(kernel);
    return std::count_if(pieces.begin(), pieces.end(),
                         [](const StreamPiece& piece) { return !piece.adds.empty(); });
}

std::optional<Bytes> workspace(const GemmKernel& kernel) {
    const std::vector<StreamPiece> pieces = stream_pieces(kernel);
    const std::int64_t slots = std::count_if(pieces.begin(), pieces.end(),
                                             [](const StreamPiece& piece) { return piece.slot.has_value(); });
    const auto bytes = checked_mul(kernel.tile.m * kernel.tile.n * kPartialBytes, slots);
    return bytes ? std::optional(Bytes(*bytes)) : std::nullopt;
}

SharedOperands shared_operands(const GemmKernel& kernel) {
    std::set<std::pair<std::int64_t, std::int64_t>> rows, columns;  // of tiles, by item of the batch
    for (std::int64_t tile = kernel.tiles() - kernel.shared_tiles; tile < kernel.tiles(); ++tile) {
        const CtaPlace place = place_of(kernel, tile);
        rows.emplace(place.batch, place.m);
        columns.emplace(kernel.shape.shared_b ? 0 : place.batch, place.n);
    }
    const auto bytes = [&](std::size_t m, std::size_t n, double k) {
        return kernel.shape.operand_bytes(static_cast<std::int64_t>(m) * kernel.tile.m +
                                          static_cast<std::int64_t>(n) * kernel.tile.n) *
               k;
    };
    const std::int64_t alike = std::gcd(kernel.streams, kernel.shared_tiles);  // CTAs at one depth
    const auto together = static_cast<std::size_t>(alike);
    const auto k = static_cast<double>(kernel.steps() * kernel.tile.k);
    const std::int64_t times = kernel.shared_tiles / alike;  // all CTAs take each tile's steps once
    return {bytes(rows.size(), columns.size(), k),
            bytes(std::min(rows.size(), together), std::min(columns.size(), together), k) *
                static_cast<double>(times)};
}

}  // namespace systole::simt
