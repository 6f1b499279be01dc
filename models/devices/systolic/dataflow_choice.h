// SPDX-License-Identifier: Apache-2.0
// A machine whose arrays take each dataflow (mxu.dataflow: auto), set up once for a program: the choice for a
// network, or for an operator.
#pragma once

#include <functional>
#include <memory>

#include "models/devices/systolic/spec/spec.h"
#include "sim/device/device.h"

namespace systole::systolic {

/// Cycles that no run of the network on these arrays takes less than, whatever its mapping: what its matrix
/// operators stream, or shift in, in the dataflow of `mxu`.
double least_array_cycles(const Graph& graph, const MxuSpec& mxu);

/// Makes the device of a machine with a dataflow.
using MakeDevice = std::function<std::unique_ptr<Device>(SystolicSpec)>;

/// The device that runs everything in the dataflow in which it takes the fewest cycles (of equals the first
/// of ws, os, is). They are simulated one after the other, the one with the smallest bound first; what cannot
/// be faster by its bound is not. A mapping by hand may name the dataflow instead, as a program does.
std::unique_ptr<Device> choose_dataflow(const SystolicSpec& spec, const MakeDevice& make);

}  // namespace systole::systolic
