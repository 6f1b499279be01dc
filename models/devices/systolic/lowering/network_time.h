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

/// How far network_time_by_turns() may be off, as a part of it: of random machines 3 % at most was seen.
constexpr double kTurnsBlur = 0.05;

/// About the same out of networks with fewer turns: a turn more takes as long as those before it. Nothing
/// where these cannot be lowered, turns are not alike or few, or not one block alone has many.
std::optional<double> network_time_by_turns(int cores, const Graph& graph, const SystolicSpec& spec,
                                            const Protocol& protocol, const LayerDataflows* dataflows);

}  // namespace systole::systolic
