// SPDX-License-Identifier: Apache-2.0
// Stream-K (Osama et al., PPoPP 2023), with whole tiles before it: tiles that fill waves are computed one by
// a CTA; the steps along K of the tiles that are left, all of them in a row, are shared out evenly among as
// many CTAs as the SMs hold. Where a share begins or ends within a tile, the tile's pieces leave their sums
// in a workspace, and the CTA that has the tile's first step adds them to its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/devices/simt/kernels/gemm_kernel.h"
#include "sim/base/units.h"

namespace systole::simt {

/// What a CTA does of one tile: `steps` steps along K from step `begin` on.
struct StreamPiece {
    std::int64_t tile = 0;  ///< of all tiles of the kernel, in the order of its raster
    std::int64_t begin = 0, steps = 0;
    /// Where in the workspace its sums are left, in tiles; none: it has the tile's first step.
    std::optional<std::int64_t> slot;
    std::vector<std::int64_t> adds;  ///< pieces of the same tile whose sums it adds, by their numbers
};

/// The kernel with its last tiles shared, on a chip that holds `places` CTAs; nothing where waves are full,
/// or where CTAs would get less than two steps each.
std::optional<GemmKernel> with_shared_tiles(const GemmKernel& kernel, std::int64_t places);

/// In the order in which they are begun: first pieces of all shares, then second ones, the longest first. As
/// those with the shortest first piece are through with it first, each is begun where its share says.
std::vector<StreamPiece> stream_pieces(const GemmKernel& kernel);

/// Tiles of which more than one CTA has a piece.
std::int64_t divided_tiles(const GemmKernel& kernel);

/// Room for sums in fp32, of a whole tile for every piece that leaves some. Nothing where it leaves 63 bits.
std::optional<Bytes> workspace(const GemmKernel& kernel);

/// Bytes of A and B that shared tiles take out of the memory: `once`, if all of it stays in the L2;
/// `by_depth`, if CTAs that stand at another depth along K find nothing of it there. As a share ends in the
/// middle of K, the next one begins there: CTAs stand at as many depths as there are shares until one begins
/// with a tile.
struct SharedOperands {
    double once = 0, by_depth = 0;
};
SharedOperands shared_operands(const GemmKernel& kernel);

}  // namespace systole::simt
