// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/sum_of_parts.h"

#include <algorithm>

#include "sim/base/checked.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kThreads = 256;            // of a CTA
constexpr std::int64_t kSums = kThreadBytes / 4;  // of a thread, of each part

/// What its warps, on their sub-cores, take for functions.
Cycles functions(const Epilogue& epilogue, const SmSpec& sm) {
    const FunctionCost cost = cost_of(epilogue);
    const std::int64_t warps = ceil_div(kThreads / sm.warp_threads, std::int64_t{sm.sub_cores});
    return (sm.fp32.interval * cost.fp32 + sm.special.interval * cost.special) * (warps * kSums);
}

}  // namespace

std::optional<Bytes> sums_of_parts(const GemmKernel& kernel) {
    const std::int64_t elements = kernel.shape.batch * kernel.shape.m * kernel.shape.n;
    const auto bytes = checked_mul(elements * kPartialBytes, kernel.split_k);
    return bytes ? std::optional(Bytes(*bytes)) : std::nullopt;
}

StreamPlan sum_of_parts(const GemmPlan& gemm, const SmSpec& sm) {
    const GemmKernel& kernel = gemm.kernel;
    StreamPlan sum;
    sum.elements = kernel.shape.batch * kernel.shape.m * kernel.shape.n;
    sum.ctas = ceil_div(sum.elements, kThreads * kSums);
    sum.warps = static_cast<int>(kThreads / sm.warp_threads);
    sum.warp_threads = sm.warp_threads;
    sum.resident = static_cast<int>(
        std::max<std::int64_t>(1, std::min<std::int64_t>(sm.ctas, sm.warps * sm.warp_threads / kThreads)));
    sum.prologue = sm.integer.latency * 8;
    sum.epilogue = sm.fp32.latency * kernel.split_k + functions(kernel.shape.epilogue, sm);
    sum.finish = kernel.shape.epilogue;
    sum.from = gemm.sums;
    sum.to = gemm.c;
    sum.other = gemm.other;
    sum.columns = gemm.columns;
    sum.column_run = kernel.swapped ? kernel.shape.n : 1;
    sum.column_items = kernel.shape.shared_b ? 1 : kernel.shape.batch;
    return sum;
}

}  // namespace systole::simt
