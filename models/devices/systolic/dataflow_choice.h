// SPDX-License-Identifier: Apache-2.0
// A machine whose arrays take each dataflow (mxu.dataflow: auto): the choice for a network, or for each of
// its layers.
#pragma once

#include <functional>
#include <memory>

#include "models/devices/systolic/lowering/mapping.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/device/device.h"

namespace systole::systolic {

/// Cycles that no run of the network on these arrays takes less than, whatever its mapping: what its matrix
/// operators stream, or shift in, each in its dataflow, or in that of `mxu`.
double least_array_cycles(const Graph& graph, const MxuSpec& mxu, const LayerDataflows& dataflows = {});

/// Makes the device of a machine with a dataflow, or of one that takes each, with those of layers.
using MakeDevice = std::function<std::unique_ptr<Device>(SystolicSpec, LayerDataflows)>;

/// The device that runs every network in the dataflow in which it takes the fewest cycles (of equals the
/// first of ws, os, is), or with dataflows of layers where that takes fewer. All are simulated one after the
/// other, the one with the smallest bound first; what cannot be faster by its bound is not. Dataflows of
/// layers are those of least cost (lowering/dataflow_plan.h), once by the mapper's estimate, and twice by
/// what layers took in the runs in one dataflow: each change counted once, and several times. A mapping by
/// hand may name dataflows instead, as a program does.
std::unique_ptr<Device> choose_dataflow(const SystolicSpec& spec, const MakeDevice& make);

}  // namespace systole::systolic
