// SPDX-License-Identifier: Apache-2.0
// Devices and traces as tables for people and as JSON for programs.
#pragma once

#include <string>

#include "sim/app/load_device.h"
#include "sim/config/yaml.h"
#include "sim/workload/graph.h"

namespace systole::app {

/// A row per value, a rule between sections.
std::string device_text(const LoadedDevice& device);
/// {device, title, values: [{path, value, origin, note, range, meaning}]}.
std::string device_json(const LoadedDevice& device);

/// Parameters with their defaults (from the document), then a row per layer of the graph built from it.
std::string trace_text(const config::YamlNode& document, const Graph& graph);
/// {trace, params: {name: default}, macs, weight_bytes,
///  layers: [{name, op, inputs, output, weights, macs, weight_bytes}]}; tensors as {name, shape, dtype}.
std::string trace_json(const config::YamlNode& document, const Graph& graph);

}  // namespace systole::app
