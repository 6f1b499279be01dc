// SPDX-License-Identifier: Apache-2.0
// From a layer of attention to its kernels.
#pragma once

#include <optional>
#include <string>

#include "models/devices/simt/kernels/attention_program.h"
#include "models/devices/simt/kernels/kept_timings.h"
#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/kernels/time_attention.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/workload/graph.h"

namespace systole::simt {

/// Kernels with the same tile are timed once.
class AttentionPlanner {
public:
    /// Both must outlive it.
    AttentionPlanner(const SimtSpec& spec, KeptTimings& kept) : spec_(spec), kept_(kept) {}

    /// The kernel and how its CTAs go, without places. Throws UserError at the layer's mark if no kernel for
    /// it fits an SM. `cached`: keys and values lie in the pages of a cache.
    AttentionPlan plan(const Layer& layer, DType dtype, DType output, bool cached);

private:
    const AttentionTiming* timing_of(const AttentionKernel& kernel);
    double estimate_of(const AttentionPlan& plan) const;

    const SimtSpec& spec_;
    KeptTimings& kept_;
};

/// What the sums of all parts of the keys take, if they can be counted.
std::optional<Bytes> sums_of_attention(const AttentionKernel& kernel);
/// The kernel that joins them, or what the last CTAs of the same kernel do to join them.
StreamPlan join_of_parts(const AttentionPlan& plan, const SimtSpec& spec);

}  // namespace systole::simt
