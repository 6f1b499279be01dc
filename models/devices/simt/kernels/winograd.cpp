// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/winograd.h"

#include <algorithm>

#include "models/devices/simt/kernels/sum_of_parts.h"
#include "sim/base/checked.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kThreads = 256;  // of a CTA, with a tile of a channel each: assumed
constexpr int kOtherRegisters = 24;     // besides a tile's points
constexpr std::int64_t kElementBytes = 4;
// Additions and multiplications for each point of a tile, both ways together (Lavin and Gray: 144 for the 36
// points of F(4x4, 3x3)'s data).
constexpr std::int64_t kWork = 4;

std::optional<std::int64_t> bytes_of(std::int64_t points, std::int64_t rows, std::int64_t cols) {
    const auto elements = checked_mul(rows, cols);
    return elements ? checked_mul(*elements, points * kElementBytes) : std::nullopt;
}

bool fits(const Winograd& winograd, Bytes room) {
    const std::int64_t points = winograd.points();
    std::int64_t left = room.value();
    for (const auto& bytes : {bytes_of(points, winograd.channels, winograd.filters),
                              bytes_of(points, winograd.tiles, winograd.channels),
                              bytes_of(points, winograd.tiles, winograd.filters)}) {
        if (!bytes || *bytes > left) return false;
        left -= *bytes;
    }
    return true;
}

/// Of `tiles`, each a tile of a channel.
StreamPlan transform(std::int64_t tiles, std::int64_t points, const MatrixPlace& from, const MatrixPlace& to,
                     const SmSpec& sm) {
    StreamPlan plan;
    plan.ctas = ceil_div(tiles, kThreads);
    plan.warps = static_cast<int>(kThreads / sm.warp_threads);
    plan.warp_threads = sm.warp_threads;
    const std::int64_t registers = kThreads * (points + kOtherRegisters);
    plan.resident = static_cast<int>(std::max<std::int64_t>(
        1, std::min<std::int64_t>({sm.ctas, sm.warps / plan.warps, sm.registers / registers})));
    plan.prologue = sm.integer.latency * 8;
    plan.epilogue = sm.fp32.interval * (kWork * points * ceil_div(plan.warps, sm.sub_cores));
    plan.elements = to.bytes.value() / kElementBytes;
    plan.from = from;
    plan.to = to;
    return plan;
}

}  // namespace

std::optional<Winograd> winograd_of(const Conv2d& conv, DType dtype, const SimtSpec& spec, Bytes room) {
    const bool square = conv.kernel_h == conv.kernel_w && (conv.kernel_h == 3 || conv.kernel_h == 5);
    const bool plain = conv.groups == 1 && conv.stride == 1 && conv.stride_w() == 1 && conv.dilation == 1 &&
                       conv.dilation_w() == 1;
    if (!spec.kernels.winograd || dtype != DType::Fp32 || !square || !plain ||
        spec.sm.issue_of(dtype) != TensorIssue::Lanes)
        return std::nullopt;
    Winograd winograd;
    winograd.taps = conv.kernel_h;
    winograd.tiles =
        conv.batch * ceil_div(conv.out_h(), Winograd::kOutputs) * ceil_div(conv.out_w(), Winograd::kOutputs);
    winograd.channels = conv.in_c;
    winograd.filters = conv.out_c;
    return fits(winograd, room) ? std::optional(winograd) : std::nullopt;
}

WinogradBytes bytes_of(const Winograd& winograd) {
    const auto of = [&](std::int64_t rows, std::int64_t cols) {
        return Bytes(winograd.points() * rows * cols * kElementBytes);
    };
    return {of(winograd.channels, winograd.filters), of(winograd.tiles, winograd.channels),
            of(winograd.tiles, winograd.filters)};
}

GemmShape product_of(const Winograd& winograd) {
    GemmShape shape;
    shape.batch = winograd.points();
    shape.m = winograd.tiles;
    shape.n = winograd.filters;
    shape.k = winograd.channels;
    shape.dtype = shape.output = DType::Fp32;
    shape.shared_b = false;
    return shape;
}

std::vector<KernelPlan> winograd_kernels(const Winograd& winograd, const TimedKernel& product,
                                         const WinogradPlaces& places, const Epilogue& epilogue,
                                         const SmSpec& sm) {
    const std::int64_t points = winograd.points();
    std::vector<KernelPlan> all;
    all.emplace_back(
        transform(winograd.channels * winograd.filters, points, places.weights, places.filters, sm));
    all.emplace_back(transform(winograd.tiles * winograd.channels, points, places.map, places.data, sm));
    GemmPlan gemm;
    gemm.kernel = product.kernel;
    gemm.timing = product.timing;
    gemm.estimate = product.estimate;
    gemm.a = gemm.kernel.swapped ? places.filters : places.data;
    gemm.b = gemm.kernel.swapped ? places.data : places.filters;
    gemm.c = places.products;
    gemm.sums = places.sums;
    all.emplace_back(gemm);
    if (gemm.kernel.split_k > 1) all.emplace_back(sum_of_parts(gemm, sm));
    StreamPlan output = transform(winograd.tiles * winograd.filters, points, places.products, places.out, sm);
    output.finish = epilogue;
    output.columns = places.columns;
    output.other = places.other;
    all.emplace_back(output);
    return all;
}

double transforms_estimate(const Winograd& winograd, Bytes layer, const SimtSpec& spec) {
    constexpr double kTransforms = 3;
    const auto clock = static_cast<double>(spec.core_clock.value());
    const double dram = static_cast<double>(spec.memory.peak().value()) / clock;
    const WinogradBytes bytes = bytes_of(winograd);
    const auto moved = static_cast<double>((bytes.filters + bytes.data + bytes.products + layer).value());
    // What the L2 could not keep is written and read again.
    const double missing = std::max(0.0, moved - static_cast<double>(spec.shared_cache().usable.value()));
    const double launch = static_cast<double>((spec.launch.graph + spec.calibrated.kernel_overhead).value()) *
                          clock / static_cast<double>(kTicksPerSecond);
    const double latency = static_cast<double>(
        (spec.launch.cta + spec.l2.latency + spec.l2.latency + spec.miss_latency()).value());
    return kTransforms * (launch + latency) +
           std::max(moved / static_cast<double>(spec.l2_bytes_per_cycle().value()), missing / dram);
}

}  // namespace systole::simt
