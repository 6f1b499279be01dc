// SPDX-License-Identifier: Apache-2.0
// How long a network takes by estimate (program_time.h): lowered as a whole, or by a few turns of its
// repeated block where these are alike.
#pragma once

#include <optional>

#include "models/devices/systolic/lowering/mapping.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/device/device.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// Cycles of the core clock on so many cores. Nothing where these cannot do it.
std::optional<double> network_time(int cores, const Graph& graph, const SystolicSpec& spec,
                                   const Protocol& protocol, const LayerDataflows* dataflows);

struct BlurredTime {
    double cycles = 0;  ///< of the core clock
    /// How far network_time() may be off. Of 11,666 cases at random it was further off in four: in three by
    /// 1.4 to 1.5 % of the time, in one by 4.8 %.
    double blur = 0;
};

/// About the same out of a network with fewer turns: one that is left out takes as long as those before it.
/// Nothing where it cannot be lowered, turns are not alike or few, or not one block alone has many.
std::optional<BlurredTime> network_time_by_turns(int cores, const Graph& graph, const SystolicSpec& spec,
                                                 const Protocol& protocol, const LayerDataflows* dataflows);

}  // namespace systole::systolic
