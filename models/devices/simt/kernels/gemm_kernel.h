// SPDX-License-Identifier: Apache-2.0
// One GEMM kernel as plain values: the product, the tile of a CTA, and how CTAs are laid over the result.
//
//   C[m,n] = A[m,k] * B[k,n], `batch` times. A CTA makes one tile of C, of a `split` part of K.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "models/devices/simt/kernels/conv_gather.h"
#include "models/devices/simt/kernels/epilogue.h"
#include "sim/base/units.h"
#include "sim/workload/dtype.h"
#include "sim/workload/weight_format.h"

namespace systole::simt {

/// Neighbours along K that share a scale, which lies beside them.
struct BlockScales {
    std::int64_t group = 0, bits = 0;

    /// Of the scales of so many elements in whole blocks.
    std::int64_t bytes(std::int64_t elements) const {
        return group > 0 ? ceil_div(elements / group * bits, std::int64_t{8}) : 0;
    }
    friend auto operator<=>(const BlockScales&, const BlockScales&) = default;
};

/// A product as kernels see it. `shared_b`: one B for the whole batch. Operands may be swapped, C = (B' A')',
/// so that the wider side of a tile lies along the wider side of C; a bias then lies along its rows. With a
/// `gather` it is a convolution, a product for each group: m pixels of all images, k = taps x channels.
struct GemmShape {
    std::int64_t batch = 1, m = 1, n = 1, k = 1;
    DType dtype = DType::Bf16;   ///< of A and B
    DType output = DType::Bf16;  ///< of C
    bool shared_b = true;
    Epilogue epilogue = {};
    std::optional<ConvGather> gather = {};
    bool convolution = false;  ///< of one, though there may be nothing to gather
    /// Of both operands, neighbours along K that share a scale, and its bits; 0: none does.
    BlockScales blocks = {};
    /// What an element of A or B takes in memory, with its share of a scale.
    BitsPerWeight element() const;
    /// Of so many elements of A or B.
    double operand_bytes(std::int64_t elements) const;
    /// Elements of A in memory.
    std::int64_t a_elements() const {
        return batch * (gather ? gather->in_pixels() * gather->stored : m * k);
    }
    friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// Which pipelines of an SM multiply.
enum class Pipes : std::uint8_t { Tensor, Fp32 };

/// What a CTA computes and with what: `m` x `n` of C in steps of `k`, `stages` of which lie in shared memory.
/// On FP32 pipes `m` is 1, and a step is what its threads have under way: `stages` loads of a column of B
/// each, into registers.
struct CtaTile {
    std::int64_t m = 128, n = 128, k = 32;
    int stages = 4;
    /// Ampere: warps along m and n. Hopper: groups of four warps that compute, along m and n. Blackwell: one
    /// and one. On FP32 pipes: a warp for each column.
    int groups_m = 2, groups_n = 2;
    /// CTAs of a cluster along m and n: those along n share A's blocks, those along m share B's, of which
    /// each CTA fetches its part for all (bulk copies only).
    int cluster_m = 1, cluster_n = 1;
    Pipes pipes = Pipes::Tensor;
    /// As many CTAs as the chip holds, each with one tile after the other (bulk stores only).
    bool persistent = false;
    /// Parts of a step's K, each of which has warps of its own that multiply it for the whole tile; behind
    /// the last step their sums are added (operands through registers, threads of 32 a warp only).
    int slices = 1;
    /// Only for SMs whose CTAs may have less shared memory than this, or as much as that; 0: for all.
    std::int64_t shared_below = 0, shared_from = 0;
    /// mma.sync: operands pass through registers into shared memory, by wmma's kernels of one and two stages
    /// (wmma_program.h).
    bool wmma = false;
    /// tcgen05.mma: two CTAs of the cluster, one below the other, multiply together (cta_group::2): B's
    /// columns of both lie half in each one's shared memory.
    bool pair = false;
    /// What others of the cluster copy for it comes into its SM beside what it asks for itself, and takes no
    /// time of the SM's port.
    bool multicast = false;
    /// The library has it for parts of K only.
    bool parts_only = false;
    /// CTAs of a cluster.
    std::int64_t cluster() const { return std::int64_t{cluster_m} * cluster_n; }
    friend bool operator==(const CtaTile&, const CtaTile&) = default;
};

/// In which order CTAs are given their tiles: down panels of `panel` tiles along n (or of one cluster, if
/// that is wider), all of m in each; CTAs of a cluster one behind the other.
struct Raster {
    std::int64_t panel = 8;
    friend bool operator==(const Raster&, const Raster&) = default;
};

constexpr std::int64_t kPartialBytes = 4;  ///< of a sum of a part of K: fp32

struct GemmKernel {
    GemmShape shape;
    CtaTile tile;
    std::int64_t split_k = 1;  ///< parts of K; above 1 a second kernel adds their sums
    Raster raster;
    bool swapped = false;  ///< m and n of `shape` are those of the product's transpose
    /// Stream-K: the last `shared_tiles` tiles, whose steps along K `streams` CTAs share (stream_k.h); 0:
    /// none.
    std::int64_t streams = 0, shared_tiles = 0;

    bool on_tensor_cores() const { return tile.pipes == Pipes::Tensor; }
    std::int64_t tiles_m() const { return ceil_div(shape.m, tile.m); }
    std::int64_t tiles_n() const { return ceil_div(shape.n, tile.n); }
    /// Rows and columns of CTAs: whole clusters. Those that have no tile go along with their cluster.
    std::int64_t grid_m() const { return round_up(tiles_m(), tile.cluster_m); }
    std::int64_t grid_n() const { return round_up(tiles_n(), tile.cluster_n); }
    /// Steps along K of the whole product, and of the longest part.
    std::int64_t steps() const {
        return shape.gather ? shape.gather->steps(tile.k) : ceil_div(shape.k, tile.k);
    }
    /// Of K, what all steps before that one take; of any behind the last, all of it.
    std::int64_t k_before(std::int64_t step) const {
        return shape.gather ? shape.gather->k_before(step, tile.k) : std::min(step * tile.k, shape.k);
    }
    std::int64_t steps_of_part() const { return ceil_div(steps(), split_k); }
    /// What the CTAs that multiply do: of parts of K they store sums, and the second kernel does the rest.
    Epilogue epilogue() const { return split_k > 1 ? Epilogue{} : shape.epilogue; }
    /// Share of a tile's results that lies in the matrix, where that is smaller than a tile.
    double stored_share() const;
    /// Columns of CTAs of each panel but the last one (Raster): whole clusters.
    std::int64_t columns_of_panel() const {
        return std::min(std::max(raster.panel / tile.cluster_n, std::int64_t{1}) * tile.cluster_n, grid_n());
    }
    /// Of the whole grid, those without data too.
    std::int64_t tiles() const { return grid_m() * grid_n() * shape.batch; }
    std::int64_t ctas() const { return (tiles() - shared_tiles) * split_k + streams; }
    friend bool operator==(const GemmKernel&, const GemmKernel&) = default;
};

/// Where a CTA works.
struct CtaPlace {
    std::int64_t batch = 0, part = 0, m = 0, n = 0;  ///< m, n: of tiles
    friend bool operator==(const CtaPlace&, const CtaPlace&) = default;
};

/// Of CTA number `index`, in the order in which they are dispatched; of stream-K, of tile number `index`.
CtaPlace place_of(const GemmKernel& kernel, std::int64_t index);

/// Bytes that pass an SM's port in one step, and that it takes from the L2's ports: of a CTA, on
/// average over the kernel's CTAs, as rows outside the matrix are not loaded. What a convolution's rows lack
/// of a whole step (the last slice of channels) is not loaded either.
struct StepBytes {
    double into_sm, from_l2;
};
StepBytes step_bytes(const GemmKernel& kernel);

/// Bytes of operands that all CTAs take from the L2's ports, from their first step to their last.
double bytes_from_l2(const GemmKernel& kernel);

/// Bytes of what columns have and of the matrix to join that all CTAs read before they store (the second
/// kernel's, if parts of K are added): each CTA those of its tile.
std::int64_t epilogue_bytes(const GemmKernel& kernel);

/// "128x256x64, 4 stages, cluster 2x1, split 4", "…, stream-K"; "gemv 4x1024, 4 loads".
std::string to_string(const GemmKernel& kernel);

}  // namespace systole::simt
