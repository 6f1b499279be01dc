// SPDX-License-Identifier: Apache-2.0
// What an SM's time went to, from what its tensor cores saw warp instruction by warp instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/simt/machine/cta_times.h"
#include "models/devices/simt/sm/sm.h"
#include "sim/base/units.h"

namespace systole::simt {

/// When a CTA got its place, could issue, multiplied (first_mma -1: never), and ended; in cycles.
struct CtaSpan {
    std::int64_t placed = 0, begin = 0, first_mma = -1, last_mma_end = -1, end = 0;
    std::int64_t left = 0;  ///< when it has given back its place, waiting for its stores since `end`
};

/// Which pipelines its CTAs' warps use.
enum class CtaKind : std::uint8_t { Tensor, Fp32, Stream };

struct SmSpan {
    int sub_cores = 4;
    Hertz clock;
    Fine stored;  ///< when the last of its stores was answered; times from the kernel's begin
    Fine end;     ///< of the kernel
    Fine macs;    ///< in which tensor cores would have done what FP32 pipes multiplied
};

/// Time of one SM by class, as KernelRun counts it: all of [0, span.end). While CTAs are there that
/// stream it is vector's; while there are some that multiply on FP32 pipes, what these do not wait for.
ClassTimes times_in_warps(const Sm& sm, const std::vector<CtaSpan>& ctas, CtaKind kind, const SmSpan& span);

}  // namespace systole::simt
