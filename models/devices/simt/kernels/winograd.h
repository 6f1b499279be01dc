// SPDX-License-Identifier: Apache-2.0
// Convolutions by Winograd's minimal filtering (A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural
// Networks", CVPR 2016), F(4x4, 3x3) and F(4x4, 5x5), in four kernels as cuDNN's nonfused algorithm has it
// (winogradForwardFilter4x4, winogradForwardData4x4, sgemm, winogradForwardOutput4x4):
//
//   weights ─► U ─┐
//   map ─► V ─────┴─► a product of U and V for each of a tile's points ─► M ─► results
//
// Multiplications are those of the products: for 4 x 4 results of 3 x 3 taps 36 instead of 144.
#pragma once

#include <optional>
#include <vector>

#include "models/devices/simt/kernels/choose.h"
#include "models/devices/simt/kernels/gemm_kernel.h"
#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/workload/operators.h"

namespace systole::simt {

struct Winograd {
    std::int64_t taps = 3;   ///< of a side of the filter
    std::int64_t tiles = 1;  ///< of 4 x 4 results, of all images: the last of a row and column hold fewer
    std::int64_t channels = 1, filters = 1;

    static constexpr std::int64_t kOutputs = 4;  ///< of a side of a tile
    std::int64_t side() const { return kOutputs + taps - 1; }
    /// Of a tile, after its transform: as many products.
    std::int64_t points() const { return side() * side(); }
    Macs macs() const { return Macs(points() * tiles * channels * filters); }
};

/// Bytes of what the transforms leave in memory, in fp32.
struct WinogradBytes {
    Bytes filters, data, products;  ///< U, V, M
};

/// Of a convolution that can go this way, where the library offers it: in fp32 on FP32 pipes, of one group,
/// windows that move by a pixel, if that leaves `room` in memory.
std::optional<Winograd> winograd_of(const Conv2d& conv, DType dtype, const SimtSpec& spec, Bytes room);

WinogradBytes bytes_of(const Winograd& winograd);

/// One product for each point, batched.
GemmShape product_of(const Winograd& winograd);

/// Where its kernels' operands lie; no bytes of other and sums: there are none.
struct WinogradPlaces {
    MatrixPlace weights, map, out, other;
    std::vector<ColumnValues> columns;
    MatrixPlace filters, data, products;  ///< what is left for the next kernel: U, V, M
    MatrixPlace sums;                     ///< of parts of the products' K
};

/// The transforms of weights and map, the products, and their transform, which does the epilogue. In each
/// transform a thread has a tile of a channel (a filter's taps of a channel): read once, written once.
std::vector<KernelPlan> winograd_kernels(const Winograd& winograd, const TimedKernel& product,
                                         const WinogradPlaces& places, const Epilogue& epilogue,
                                         const SmSpec& sm);

/// Core cycles that the three transforms are expected to take; `layer`: bytes of map, weights and results.
double transforms_estimate(const Winograd& winograd, Bytes layer, const SimtSpec& spec);

}  // namespace systole::simt
