// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/staged_shape.h"

#include <algorithm>

#include "models/devices/simt/kernels/mma_shapes.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kWaveThreads = 64;
constexpr std::int64_t kSumBytes = 4;

FragmentReads reads_of(std::int64_t bytes, std::int64_t threads) {
    const std::int64_t load = threads * kThreadBytes;
    return {ceil_div(bytes, load), std::min(bytes, load), ceil_div(bytes, threads * kSumBytes)};
}

/// An instruction of 32 x 32 takes 16 bytes of K, of 16 x 16 32.
StagedShape of_wave(std::int64_t rows, std::int64_t cols, DType dtype) {
    StagedShape shape;
    shape.threads = kWaveThreads;
    shape.part_bytes = kFragmentBytes;
    shape.a = reads_of(rows * kFragmentBytes, kWaveThreads);
    shape.b = reads_of(cols * kFragmentBytes, kWaveThreads);
    shape.m = shape.n = rows % 32 == 0 && cols % 32 == 0 ? 32 : 16;
    shape.instructions = shape.m == 32 ? 2 : 1;
    shape.macs = shape.m * shape.n * k_of_fragment(dtype) / shape.instructions;
    shape.behind_product = 2;    // a load and its pointer: a product takes as long as several others issue
    shape.other_registers = 30;  // addresses, offsets of loads (assumed)
    return shape;
}

// A warp's four quad-pairs lie two by two over 16 x 16 results (PTX ISA, mma.sync.m8n8k4: 8 x 8 x 4 each), so
// that each row of A and column of B is in the registers of two of them. HMMA.884 leaves the sums of a
// product in four steps, each of other registers (M. Raihan et al., arXiv:1811.08309).
StagedShape of_quad_pair(std::int64_t rows, std::int64_t cols, std::int64_t element) {
    constexpr std::int64_t kDepth = 4, kHolders = 2, kSide = 16, kSteps = 4;
    StagedShape shape;
    shape.part_bytes = kDepth * element;
    shape.a = reads_of(rows * shape.part_bytes * kHolders, kWarpThreads);
    shape.b = reads_of(cols * shape.part_bytes * kHolders, kWarpThreads);
    shape.m = shape.n = kSide;
    shape.instructions = kSteps;
    shape.macs = kSide * kSide * kDepth / kSteps;
    shape.sums_apart = true;
    shape.other_registers = kOtherRegisters;
    return shape;
}

// Threads lie 8 x 4 over a warp's results, or 4 x 8, and each has as many rows and columns next to each
// other. Half of a warp's threads read what the other half reads: its loads take the banks two turns of 128
// bytes (assumed). S. Gray, maxas, SGEMM: 64 sums, 32 of fragments, 8 of loads, 127 in all.
std::optional<StagedShape> of_lanes(std::int64_t rows, std::int64_t cols) {
    constexpr std::int64_t kMany = 8, kFew = 4, kReaders = 2;
    const std::int64_t down = rows >= cols ? kMany : kFew, across = kWarpThreads / down;
    if (rows % down != 0 || cols % across != 0) return std::nullopt;
    const auto reads = [](std::int64_t of_thread) {
        const std::int64_t count = ceil_div(of_thread * kSumBytes, kThreadBytes);
        return FragmentReads{count, of_thread * kSumBytes * kWarpThreads / kReaders / count, of_thread};
    };
    StagedShape shape;
    shape.part_bytes = kSumBytes;
    shape.a = reads(rows / down);
    shape.b = reads(cols / across);
    shape.op = Op::Fma;
    shape.m = down;
    shape.n = across;
    shape.macs = kWarpThreads;
    shape.other_registers = 23;
    return shape;
}

}  // namespace

std::optional<StagedShape> staged_shape(const CtaTile& tile, DType dtype, TensorIssue issue) {
    const auto whole = [](std::int64_t a, std::int64_t b) { return b > 0 && a > 0 && a % b == 0; };
    if (!whole(tile.m, tile.groups_m) || !whole(tile.n, tile.groups_n) || tile.slices < 1)
        return std::nullopt;
    const std::int64_t rows = tile.m / tile.groups_m, cols = tile.n / tile.groups_n;
    std::optional<StagedShape> shape;
    if (issue == TensorIssue::Lanes)
        shape = of_lanes(rows, cols);
    else if (whole(rows, 16) && whole(cols, 16))
        shape = issue == TensorIssue::Wave ? of_wave(rows, cols, dtype)
                                           : of_quad_pair(rows, cols, element_bytes(dtype));
    if (!shape) return std::nullopt;
    shape->rows = rows;
    shape->cols = cols;
    // Half a load too many for each wave: GlobalReadVectorWidth 4 of MT256x160x32 in 16 bits. Of other
    // formats no such names were read.
    const std::int64_t step = bytes_of(dtype, (tile.m + tile.n) * tile.k);
    const std::int64_t loads = shape->load_bytes() * tile.groups_m * tile.groups_n;
    const bool halves = issue == TensorIssue::Wave && element_bytes(dtype) == 2;
    if (halves && step > loads && step % loads == loads / 2) shape->thread_bytes /= 2;
    return shape;
}

}  // namespace systole::simt
