// SPDX-License-Identifier: Apache-2.0
// Which layers of a network run part by part of the batch (placement.slice), so that what lies between them
// stays in the scratchpad.
#pragma once

#include "models/devices/systolic/lowering/mapping.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/device/device.h"
#include "sim/workload/graph.h"
#include "sim/workload/sliced_graph.h"

namespace systole::systolic {

/// The runs of layers and numbers of parts that are estimated to take the least time, which is that of the
/// units or of the memory's bus, layer by layer, or what the host takes to send a run's inputs. A run's inner
/// tensors stay on chip, and those that live at once have to fit into placement.activation_space; its weights
/// are read for every part. Nothing where that saves less than the estimate can tell.
std::vector<SlicedRun> choose_slices(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol);

/// The network as the machine runs it: in the parts that `mapping` names; where it names none, in those of
/// choose_slices() if the machine slices. Throws UserError for layers that cannot run in such parts.
Graph sliced_graph(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
                   const Mapping* mapping);

/// The runs that a network was sliced into, by names, as a mapping says them.
std::vector<NamedSlices> slices_of(const Graph& sliced);

}  // namespace systole::systolic
