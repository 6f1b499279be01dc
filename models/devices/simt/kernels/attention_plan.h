// SPDX-License-Identifier: Apache-2.0
// From a layer of attention to its kernels.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "models/devices/simt/kernels/attention_program.h"
#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/kernels/time_attention.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/workload/graph.h"

namespace systole::simt {

/// Keeps how kernels go: those with the same tile are timed once. Not for several threads.
class AttentionPlanner {
public:
    explicit AttentionPlanner(const SimtSpec& spec) : spec_(spec) {}

    /// The kernel and how its CTAs go, without places. Throws UserError at the layer's mark if no kernel for
    /// it fits an SM. `cached`: keys and values lie in the pages of a cache.
    AttentionPlan plan(const Layer& layer, DType dtype, DType output, bool cached);

private:
    const AttentionTiming* timing_of(const AttentionKernel& kernel);
    double estimate_of(const AttentionPlan& plan) const;

    const SimtSpec& spec_;
    std::map<std::tuple<AttentionTile, AttentionFormats, double, std::int64_t>,
             std::optional<AttentionTiming>>
        known_;
};

/// What the sums of all parts of the keys take, if they can be counted.
std::optional<Bytes> sums_of_attention(const AttentionKernel& kernel);
/// The kernel that joins them, or what the last CTAs of the same kernel do to join them.
StreamPlan join_of_parts(const AttentionPlan& plan, const SimtSpec& spec);

}  // namespace systole::simt
