// SPDX-License-Identifier: Apache-2.0
// Devices, memories and traces as tables for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/config/yaml.h"
#include "sim/workload/graph.h"

namespace systole::app {

/// A device or a memory, value by value.
struct Values {
    std::string kind;   ///< "device", "memory"
    std::string name;   ///< the file's name without ".yaml"
    std::string title;  ///< the file's
    std::string about;  ///< lines of text
    std::vector<config::Entry> entries;
};

/// A row per value, a rule between sections.
std::string values_text(const Values& values);
/// {KIND: name, title, about, values: [{path, value, origin, note, range, meaning}]}.
std::string values_json(const Values& values);

/// Parameters with their defaults (from the document), then a row per layer of the graph built from it.
std::string trace_text(const config::YamlNode& document, const Graph& graph);
/// {trace, params: {name: default}, macs, weight_bytes,
///  layers: [{name, op, inputs, output, weights, macs, weight_bytes}]}; tensors as {name, shape, dtype}.
std::string trace_json(const config::YamlNode& document, const Graph& graph);

}  // namespace systole::app
