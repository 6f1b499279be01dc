// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/vector_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace systole::simt {
namespace {

constexpr std::int64_t kElementsOfThread = 4;  // thread_constants.h: thread_work_size
constexpr int kWarps = 4;                      // 128 threads
// softmax_warp_forward: rows of as many elements and bytes at most; two of them where they are short.
constexpr std::int64_t kWarpElements = 1024, kWarpBytes = 4096, kShort = 128;
constexpr std::int64_t kMostThreads = 1024;  // of a CTA
constexpr std::int64_t kWarpThreads = 32;    // as kernels are laid out, before with_warps_of()
// vLLM's kernels: threads of a CTA at most, of rotary embeddings and of others.
constexpr std::int64_t kRotaryThreads = 512;
// vectorized_gather_kernel, embedding bags: threads of a CTA at most.
constexpr std::int64_t kLookupThreads = 256;
// indexSelectLargeIndex and indexSelectSmallIndex: a grid of as many CTAs as SMs have eight of; the latter
// for as many lookups at most.
constexpr int kLookupCtas = 8;
constexpr std::int64_t kFewLookups = 16;
// TorchInductor 2.0, triton_ops/autotune.py: elements of a CTA of 1,024 and four warps; of a row all up to
// 1,024, or 2,048 in each round, a warp for each 128 of them, two to eight.
constexpr std::int64_t kInductorElements = 8, kInductorRound = 2048;
constexpr std::int64_t kInductorOfWarp = 128, kInductorLeast = 2, kInductorMost = 8;

/// Elements of `dtype` that one load of a thread brings, at most.
std::int64_t most_loaded(DType dtype) {
    return kThreadBytes * 8 / bits_of(dtype).value();
}

/// The widest load of a power of two that rows can be cut into.
std::int64_t widest(std::int64_t cols, std::int64_t most) {
    while (most > 1 && cols % most != 0) most /= 2;
    return most;
}

/// SoftMax_getBlockSize: a power of two, such that half of the row at least is loaded in whole vectors.
int softmax_warps(std::int64_t cols, std::int64_t vector) {
    std::int64_t most = std::min(cols / vector, kMostThreads);
    if (vector > 1) most /= 2;
    std::int64_t threads = kWarpThreads;
    while (threads < most) threads *= 2;
    return static_cast<int>(threads / kWarpThreads);
}

/// Rows of a norm as torch.compile's kernel has them.
void share_as_inductor(std::int64_t cols, VectorKernel& kernel) {
    const auto padded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(cols)));
    const std::int64_t round =
        std::min(padded, cols <= VectorKernel::kHeldRow ? VectorKernel::kHeldRow : kInductorRound);
    kernel.made_by = Library::Inductor2023;
    kernel.warps = static_cast<int>(std::clamp(round / kInductorOfWarp, kInductorLeast, kInductorMost));
    const std::int64_t own = std::max<std::int64_t>(1, round / (kernel.warps * kWarpThreads));
    kernel.vector = widest(cols, std::min(own, most_loaded(kernel.in)));
}

int warps_for(std::int64_t threads, std::int64_t most) {
    return static_cast<int>(ceil_div(std::min(threads, most), kWarpThreads));
}

}  // namespace

std::int64_t VectorKernel::padded() const {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(cols)));
}

VectorKernel elementwise_kernel(std::int64_t elements, int operands, const InstructionMix& work, DType in,
                                DType out, Library library) {
    VectorKernel kernel;
    kernel.cols = elements;
    kernel.in = in;
    kernel.out = out;
    kernel.operands = operands;
    kernel.work = work;
    kernel.warps = kWarps;
    kernel.vector =
        library == Library::Inductor2023 ? std::min(kInductorElements, most_loaded(in)) : kElementsOfThread;
    return kernel;
}

VectorKernel softmax_kernel(std::int64_t rows, std::int64_t cols, DType in, DType out, Library library) {
    VectorKernel kernel;
    kernel.rows = rows;
    kernel.cols = cols;
    kernel.in = in;
    kernel.out = out;
    if (cols <= kWarpElements && cols * bits_of(in).value() <= kWarpBytes * 8) {
        kernel.kind = VectorKernel::Kind::WarpSoftmax;
        kernel.warps = kWarps;
        kernel.rows_of_lanes = cols <= kShort ? 2 : 1;
        return kernel;
    }
    kernel.kind = VectorKernel::Kind::BlockSoftmax;
    if (of_2023(library)) kernel.made_by = Library::PyTorch2023;
    kernel.vector = most_loaded(in);
    kernel.warps = softmax_warps(cols, kernel.vector);
    return kernel;
}

VectorKernel norm_kernel(const Norm& norm, DType in, DType out, Library library) {
    VectorKernel kernel;
    kernel.kind =
        norm.kind == Norm::Kind::Layer ? VectorKernel::Kind::LayerNorm : VectorKernel::Kind::RmsNorm;
    kernel.rows = norm.rows;
    kernel.cols = norm.cols;
    kernel.in = in;
    kernel.out = out;
    kernel.warps = kWarps;
    kernel.vector = widest(norm.cols, std::min(kElementsOfThread, most_loaded(in)));
    // layernorm_kernels.cu: rows of up to 1024 threads, element by element.
    if (library == Library::Vllm && norm.kind == Norm::Kind::Rms) {
        kernel.warps = warps_for(norm.cols, kMostThreads);
        kernel.vector = 1;
        kernel.made_by = library;
    }
    if (library == Library::Inductor2023) share_as_inductor(norm.cols, kernel);
    return kernel;
}

VectorKernel gate_kernel(std::int64_t rows, std::int64_t cols, const InstructionMix& work, DType in,
                         DType out) {
    VectorKernel kernel = elementwise_kernel(cols, 2, work, in, out);
    kernel.kind = VectorKernel::Kind::Gate;
    kernel.rows = rows;
    kernel.warps = warps_for(cols, kMostThreads);
    kernel.vector = 1;
    return kernel;
}

// As many threads as queries have pairs, up to 512.
VectorKernel rotary_kernel(const Rotary& rotary, DType in, DType out, std::int64_t key_heads) {
    VectorKernel kernel;
    kernel.kind = VectorKernel::Kind::Rotary;
    kernel.rows = rotary.outer * rotary.seq;
    kernel.key_cols = key_heads * rotary.dim;
    kernel.cols = rotary.heads * rotary.dim + kernel.key_cols;
    kernel.positions = rotary.seq;
    kernel.operands = 2;
    kernel.in = in;
    kernel.out = out;
    kernel.warps = warps_for(rotary.heads * rotary.dim / 2, kRotaryThreads);
    kernel.vector = 2;
    return kernel;
}

VectorKernel lookup_kernel(const LookupRows& lookup, DType in, DType out) {
    VectorKernel kernel;
    kernel.kind = VectorKernel::Kind::Lookup;
    kernel.rows = lookup.lookups / lookup.bag;
    kernel.cols = lookup.width;
    kernel.in = in;
    kernel.out = out;
    kernel.lookup = lookup;
    // Bags are summed element by element.
    kernel.vector = lookup.bag > 1 ? 1 : widest(lookup.width, most_loaded(in));
    kernel.warps = warps_for(ceil_div(lookup.width, kernel.vector), kLookupThreads);
    return kernel;
}

VectorKernel by_element(VectorKernel lookup) {
    lookup.made_by = Library::PyTorch2023;
    lookup.vector = 1;
    lookup.warps = kWarps;
    lookup.most_resident = kLookupCtas;
    if (lookup.lookup.lookups > kFewLookups) return lookup;
    lookup.stores_each = true;
    lookup.rows = 1;
    lookup.lookup.bag = lookup.lookup.lookups;
    lookup.warps = warps_for(lookup.cols, lookup.threads());
    return lookup;
}

VectorKernel turn_kernel(Turn turn, DType in, DType out) {
    VectorKernel kernel;
    kernel.kind = VectorKernel::Kind::Turn;
    kernel.turn = std::move(turn);
    kernel.in = in;
    kernel.out = out;
    kernel.warps = warps_for(Turn::kThreads, Turn::kThreads);
    return kernel;
}

namespace {

VectorKernel window_kernel(const ConvGather& windows, std::int64_t results, DType in, DType out) {
    VectorKernel kernel;
    kernel.kind = VectorKernel::Kind::Window;
    kernel.windows = windows;
    kernel.cols = results;
    kernel.in = in;
    kernel.out = out;
    kernel.warps = kWarps;
    kernel.pieces = kMostThreads / kernel.threads();
    return kernel;
}

/// The greatest power of two up to `value`.
std::int64_t last_power(std::int64_t value) {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
}

// Reduce.cuh: setReduceConfig, ReduceConfig::set_block_dimension. Results lie along lanes; threads, 512 for
// vectors of one, have 16 values at least and 256 at most where CTAs can share them.
void share_windows(const SmSpec& sm, VectorKernel& kernel) {
    constexpr std::int64_t kReduceThreads = 512, kVector = 4, kLeast = 16, kMost = 256;
    const std::int64_t taps = kernel.windows->taps();
    kernel.pieces = 1;
    kernel.vector = widest(kernel.windows->channels, kVector);
    kernel.warp_threads = sm.warp_threads;
    kernel.warps =
        static_cast<int>(std::min(last_power(taps), kReduceThreads / kernel.vector / sm.warp_threads));
    kernel.sharing = kernel.warps;
    const std::int64_t own = ceil_div(taps, std::int64_t{kernel.sharing}), grid = kernel.ctas();
    const std::int64_t places = std::int64_t{sm.count} * sm.warps / kernel.warps;
    if ((own < kernel.sharing * kLeast && own < kMost) || grid > places) return;
    kernel.parts = std::max(std::min(ceil_div(places, grid), ceil_div(own, kLeast)), ceil_div(own, kMost));
}

}  // namespace

// A greater one is kept, unless what is there is no number: a comparison, a test, a selection.
VectorKernel pool_kernel(const Pool& pool, DType in, DType out, const SmSpec& sm) {
    const ConvGather windows = windows_of(pool);
    VectorKernel kernel =
        window_kernel(windows, pool.batch * pool.out_h() * pool.out_w() * pool.channels, in, out);
    const bool average = pool.kind == Pool::Kind::Average;
    kernel.of_tap = average ? mix_of(Elementwise::Kind::Add)
                            : mix_of(Elementwise::Kind::Compare) + mix_of(Elementwise::Kind::Max);
    if (average) kernel.work = quotient();
    kernel.by_place = !average;
    if (pool.global() && windows.taps() > 1) share_windows(sm, kernel);
    return kernel;
}

VectorKernel depthwise_kernel(const Conv2d& conv, DType in, DType out) {
    ConvGather windows = windows_of(conv);
    windows.channels = windows.stored = conv.in_c;
    VectorKernel kernel = window_kernel(windows, conv.pixels() * conv.out_c, in, out);
    kernel.of_tap = mix_of(Elementwise::Kind::Mul) + conversion_from(in);
    kernel.work = mix_of(conv.post);
    if (conv.bias) kernel.work += mix_of(Elementwise::Kind::Add);
    kernel.weighted = true;
    kernel.biased = conv.bias;
    kernel.results_of_channel = conv.out_c / conv.in_c;
    return kernel;
}

VectorKernel with_warps_of(VectorKernel kernel, int threads) {
    if (kernel.warp_threads == threads) return kernel;
    const bool of_warps = kernel.kind == VectorKernel::Kind::Elementwise || kernel.is_norm();
    if (!of_warps || kernel.warps != kWarps)
        kernel.warps = static_cast<int>(ceil_div(kernel.threads(), std::int64_t{threads}));
    kernel.warp_threads = threads;
    return kernel;
}

bool rows_stay(const VectorKernel& kernel, int resident, const SmSpec& sm) {
    const std::int64_t row = row_bytes(kernel.in, kernel.cols).value();
    const std::int64_t of_columns = kernel.is_norm() ? (kernel.shift ? 2 : 1) * row : 0;
    const std::int64_t room = sm.l1_capacity.value() - of_columns;
    return row <= room && row * resident <= room * kernel.passes();
}

std::string to_string(const VectorKernel& kernel) {
    const auto row = [&](const std::string& name) {
        return fmt::format("{}, {} threads a row, {} round{}", name, kernel.threads(), kernel.trips(),
                           kernel.trips() == 1 ? "" : "s");
    };
    switch (kernel.kind) {
        case VectorKernel::Kind::Elementwise:
            return fmt::format("{}, {} threads x {}", kernel.scattered ? "element by element" : "elementwise",
                               kernel.threads(), kernel.vector);
        case VectorKernel::Kind::WarpSoftmax:
            return fmt::format("softmax, {} row{} of {} threads", kernel.rows_of_lanes,
                               kernel.rows_of_lanes == 1 ? "" : "s", kernel.lanes());
        case VectorKernel::Kind::BlockSoftmax:
            return row("softmax");
        case VectorKernel::Kind::LayerNorm:
            return row("layer norm");
        case VectorKernel::Kind::RmsNorm:
            return row("rms norm");
        case VectorKernel::Kind::Gate:
            return row("gate");
        case VectorKernel::Kind::Rotary:
            return row("rotary");
        case VectorKernel::Kind::Qkv:
            return fmt::format("{} and cached, {} thread{} x {}{}",
                               kernel.qkv.computed ? "turned by computed angles" : "turned by a table",
                               kernel.threads(), kernel.threads() == 1 ? "" : "s", kernel.vector,
                               kernel.trips() > 1 ? fmt::format(", {} rounds", kernel.trips()) : "");
        case VectorKernel::Kind::Lookup:
            return fmt::format("lookup, {} threads x {}{}", kernel.threads(), kernel.vector,
                               kernel.stores_each      ? fmt::format(", {} in turn", kernel.lookup.bag)
                               : kernel.lookup.bag > 1 ? fmt::format(", bags of {}", kernel.lookup.bag)
                                                       : "");
        case VectorKernel::Kind::Turn:
            return fmt::format("transpose, tiles of {} x {}, {} threads x {}", kernel.turn.tile_rows,
                               kernel.turn.tile_cols, kernel.threads(), kernel.turn.word);
        case VectorKernel::Kind::RowSum:
            return fmt::format("reduction, {} row{} of {} threads x {}{}, {} round{}", kernel.rows_of_cta(),
                               kernel.rows_of_cta() == 1 ? "" : "s", kernel.row_threads, kernel.vector,
                               kernel.parts > 1 ? fmt::format(" of {} CTAs", kernel.parts) : "",
                               kernel.trips(), kernel.trips() == 1 ? "" : "s");
        case VectorKernel::Kind::TopK:
            return row(fmt::format("top {} by {} digits", kernel.k, kernel.digits));
        case VectorKernel::Kind::Sort:
            return fmt::format("sort of {}, {} row{} of {} threads", kernel.cols, kernel.rows_of_cta(),
                               kernel.rows_of_cta() == 1 ? "" : "s", kernel.row_threads);
        case VectorKernel::Kind::Window:
            if (kernel.sharing > 1)
                return fmt::format("pool of maps {}x{}, {} warps a map{}", kernel.windows->kernel_h,
                                   kernel.windows->kernel_w, kernel.sharing,
                                   kernel.parts > 1 ? fmt::format(" of {} CTAs", kernel.parts) : "");
            return fmt::format("{} {}x{}, {} threads x 1", kernel.weighted ? "depthwise" : "pool",
                               kernel.windows->kernel_h, kernel.windows->kernel_w, kernel.threads());
    }
    return {};
}

}  // namespace systole::simt
