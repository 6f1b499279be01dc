// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/reduce_kernel.h"

#include <algorithm>
#include <bit>

namespace systole::simt {
namespace {

constexpr std::int64_t kMostThreads = 512;  // of a CTA
// Rows of more elements are loaded in vectors.
constexpr std::int64_t kShortRow = 128, kVector = 4;
// Values of a thread from which on warps, and CTAs, share a row.
constexpr std::int64_t kLeast = 16, kMost = 256;

std::int64_t last_power(std::int64_t value) {
    return static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(std::min(value, kMostThreads))));
}

/// With each element; a greater one is kept, unless what is there is no number.
InstructionMix of_element(Reduce::Kind kind) {
    switch (kind) {
        case Reduce::Kind::Max:
        case Reduce::Kind::Min:
            return mix_of(Elementwise::Kind::Compare) + mix_of(Elementwise::Kind::Max);
        case Reduce::Kind::Sum:
        case Reduce::Kind::Mean:
        case Reduce::Kind::Product:
            break;
    }
    return mix_of(Elementwise::Kind::Add);
}

/// With each result: a mean is a sum times one over their number.
InstructionMix of_result(Reduce::Kind kind) {
    return kind == Reduce::Kind::Mean ? mix_of(Elementwise::Kind::Mul) : InstructionMix{};
}

}  // namespace

VectorKernel row_sum_kernel(const Reduce& reduce, DType in, DType out, const SmSpec& sm) {
    VectorKernel kernel;
    kernel.kind = VectorKernel::Kind::RowSum;
    kernel.rows = reduce.rows;
    kernel.cols = reduce.cols;
    kernel.in = in;
    kernel.out = out;
    kernel.of_tap = of_element(reduce.kind);
    kernel.work = of_result(reduce.kind);
    kernel.vector = reduce.cols > kShortRow ? kVector : 1;
    kernel.warp_threads = sm.warp_threads;
    const std::int64_t along = last_power(reduce.cols / kernel.vector);
    std::int64_t width = std::min<std::int64_t>(along, sm.warp_threads);
    const std::int64_t height = std::min(last_power(reduce.rows), kMostThreads / width);
    width = std::min(along, kMostThreads / height);
    kernel.warps = static_cast<int>(ceil_div(width * height, std::int64_t{sm.warp_threads}));
    kernel.row_threads = width;
    const bool share = ceil_div(reduce.cols, width) >= std::min(height * kLeast, kMost);
    if (!share) return kernel;
    kernel.row_threads = width * height;
    const std::int64_t own = ceil_div(reduce.cols, kernel.row_threads), grid = kernel.ctas();
    const std::int64_t places = std::int64_t{sm.count} * (sm.warps / kernel.warps);
    if (own < kMost || grid > places) return kernel;
    kernel.parts = std::max(std::min(ceil_div(places, grid), ceil_div(own, kLeast)), ceil_div(own, kMost));
    return kernel;
}

VectorKernel column_sum_kernel(const Reduce& reduce, DType in, DType out, const SmSpec& sm) {
    Pool pool;
    pool.kind = Pool::Kind::Average;
    pool.batch = reduce.items;
    pool.in_h = pool.window_h = reduce.rows;
    pool.in_w = pool.window_w = 1;
    pool.channels = reduce.cols;
    VectorKernel kernel = pool_kernel(pool, in, out, sm);
    kernel.of_tap = of_element(reduce.kind);
    kernel.work = of_result(reduce.kind);
    return kernel;
}

}  // namespace systole::simt
