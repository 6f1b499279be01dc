// SPDX-License-Identifier: Apache-2.0
// What each layer of a network costs in each dataflow, by the mapper's estimate, and the dataflows of least
// cost (dataflow_plan.h).
#pragma once

#include <string>
#include <vector>

#include "models/devices/systolic/lowering/dataflow_plan.h"
#include "models/devices/systolic/lowering/mapping.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/device/device.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

/// The matrix layers of a network as runs, with their whole names. Turns of a block are alike, and parts of
/// the batch; each such run is one of `runs`.
struct LayerCosts {
    std::vector<LayerRun> runs;
    std::vector<std::string> names;  ///< of a turn of each run, in order
    /// By layer of `names`: layers of the network that share its dataflow, by whole name.
    std::vector<std::vector<std::string>> alike;
};

/// Costs nothing yet.
LayerCosts layer_runs(const Graph& graph);

/// By estimate: with what lies where it would if all layers had that dataflow. `graph` as the machine runs
/// it.
LayerCosts estimated_costs(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
                           const Mapping* mapping);

/// Throws UserError where `mapping` names another dataflow for a layer than for that of the first turn.
void expect_turns_alike(const Mapping& mapping, const LayerCosts& costs);

/// Takes all other dataflows from layers that `mapping` names one for, or all of them one.
void keep_to(const Mapping& mapping, LayerCosts& costs);

/// What arrays lose where two layers behind each other differ: until the last sum can be read, until they are
/// set up, and until the first tile is in, behind no pass.
double change_cycles(const MxuSpec& mxu);

/// Of all matrix layers, that of least cost, if a change costs so many cycles. Empty where some layer can run
/// in none.
LayerDataflows dataflows_of(const LayerCosts& costs, double change);

}  // namespace systole::systolic
