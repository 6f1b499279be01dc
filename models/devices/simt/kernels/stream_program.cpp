// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/stream_program.h"

#include <algorithm>

#include "models/devices/simt/spec/spec.h"

namespace systole::simt {
namespace {

constexpr int kWarps = 8;                                            // of a CTA
constexpr std::int64_t kRowBytes = kWarpThreads * kThreadBytes;      // of a warp's load
constexpr std::int64_t kSums = kThreadBytes / 4;                     // of a thread
constexpr std::int64_t kAddresses = 8;                               // instructions behind each other
constexpr std::int64_t kBuffers = 32;                                // registers of loads under way
constexpr RegisterGroups kFirstSum = RegisterGroups{1} << kBuffers;  // as many as kSums
constexpr RegisterGroups kAddress = RegisterGroups{1} << (kBuffers + kSums);

/// Of each warp: what lies there, shared out among CTAs and their warps.
std::int64_t rows_of(const MatrixPlace& matrix, const StreamPlan& plan) {
    return ceil_div(ceil_div(matrix.bytes.value(), plan.ctas), kWarps * kRowBytes);
}

}  // namespace

CtaProgram stream_program(const StreamPlan& plan) {
    Section section;
    for (std::int64_t i = 0; i < kAddresses; ++i)
        section.body.push_back({.op = Op::Integer, .reads = kAddress, .writes = kAddress});
    const std::int64_t loads = rows_of(plan.from, plan);
    const auto buffer = [](std::int64_t i) { return RegisterGroups{1} << (i % kBuffers); };
    const auto add = [&](std::int64_t load) {
        for (std::int64_t i = 0; i < kSums; ++i)
            section.body.push_back(
                {.op = Op::Fp32, .reads = buffer(load) | (kFirstSum << i), .writes = kFirstSum << i});
    };
    for (std::int64_t i = 0; i < loads; ++i) {
        if (i >= kBuffers) add(i - kBuffers);
        section.body.push_back(
            {.op = Op::GlobalLoad, .reads = kAddress, .writes = buffer(i), .bytes = kRowBytes});
    }
    for (std::int64_t i = std::max<std::int64_t>(0, loads - kBuffers); i < loads; ++i) add(i);
    RegisterGroups sums = 0;
    for (std::int64_t i = 0; i < kSums; ++i) sums |= kFirstSum << i;
    for (std::int64_t i = 0; i < rows_of(plan.to, plan); ++i)
        section.body.push_back({.op = Op::GlobalStore, .reads = sums, .bytes = kRowBytes});
    CtaProgram program;
    program.roles = {{kWarps, {std::move(section)}}};
    return program;
}

}  // namespace systole::simt
