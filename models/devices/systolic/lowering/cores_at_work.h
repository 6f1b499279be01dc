// SPDX-License-Identifier: Apache-2.0
// Whether a network is shared by all cores of a chip, or done by the first one alone: what cores hand on to
// each other goes through memory and back, which small layers do not make up for.
#pragma once

#include "models/devices/systolic/lowering/mapping.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/device/device.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// All cores, or one. A mapping says it, or else what is estimated to take less time; cores share whatever
/// has large layers. Throws UserError where a mapping asks for another number.
int cores_at_work(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
                  const Mapping* mapping, const LayerDataflows* dataflows = nullptr);

}  // namespace systole::systolic
