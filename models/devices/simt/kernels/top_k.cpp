// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/top_k.h"

#include <algorithm>
#include <bit>

namespace systole::simt {
namespace {

constexpr std::int64_t kDigitBits = 2;       // SortingRadixSelect.cuh: RADIX_BITS
constexpr std::int64_t kMostThreads = 1024;  // of a CTA
constexpr std::int64_t kWarpThreads = 32;    // as kernels are laid out, before with_warps_of()
// Of the kernel that sorts short rows: elements, and rows of a CTA.
constexpr std::int64_t kShort = 32, kShortRows = 16;

/// Bits that say in which power of two a number lies; of whole numbers, the sign.
std::int64_t leading_bits(DType dtype) {
    switch (dtype) {
        case DType::Fp32:
        case DType::Bf16:
            return 1 + 8;
        case DType::Fp16:
            return 1 + 5;
        case DType::Fp8:
            return 1 + 4;
        default:
            return 1;
    }
}

}  // namespace

std::int64_t sorted_of(std::int64_t k) {
    if (k <= kShort) return kShort;
    if (k <= 128) return 128;
    return std::max<std::int64_t>(1024,
                                  static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(k))));
}

std::int64_t digits_to_count(DType dtype, std::int64_t cols) {
    const std::int64_t all = ceil_div(bits_of(dtype).value(), kDigitBits);
    const auto numbering = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(cols - 1)));
    return std::min(all, ceil_div(leading_bits(dtype) + numbering + 1, kDigitBits));
}

VectorKernel top_k_kernel(const TopK& top, DType in) {
    VectorKernel kernel;
    kernel.kind = VectorKernel::Kind::TopK;
    kernel.rows = top.rows;
    kernel.cols = top.cols;
    kernel.in = kernel.out = in;
    kernel.k = top.k;
    kernel.digits = digits_to_count(in, top.cols);
    kernel.unique = kernel.digits * kDigitBits < bits_of(in).value();
    kernel.warps = static_cast<int>(ceil_div(std::min(top.cols, kMostThreads), kWarpThreads));
    return kernel;
}

VectorKernel sort_kernel(const TopK& top, DType in, const SmSpec& sm) {
    VectorKernel kernel;
    kernel.kind = VectorKernel::Kind::Sort;
    kernel.rows = top.rows;
    kernel.cols = top.k;
    kernel.in = kernel.out = in;
    const std::int64_t all = sorted_of(top.k);
    kernel.row_threads = std::min(kMostThreads, all / 2);
    std::int64_t rows = 1;
    // Sort.cu: fewer rows a CTA where there would be none for half of the SMs.
    if (all == kShort) rows = std::clamp<std::int64_t>(top.rows / std::max(1, sm.count / 2), 1, kShortRows);
    kernel.warps = static_cast<int>(ceil_div(kernel.row_threads * rows, kWarpThreads));
    return kernel;
}

bool top_k_of_both(const Graph& graph, std::size_t first) {
    if (first + 1 >= graph.layers.size()) return false;
    const Layer &one = graph.layers[first], &next = graph.layers[first + 1];
    const auto *top = std::get_if<TopK>(&one.op), *other = std::get_if<TopK>(&next.op);
    if (top == nullptr || other == nullptr || top->gradient || other->gradient) return false;
    return one.inputs == next.inputs && top->k == other->k && top->indices != other->indices;
}

}  // namespace systole::simt
