// SPDX-License-Identifier: Apache-2.0
// The door for traces: a network, or, of one that is trained, a step of that.
#include "sim/workload/trace.h"

#include <fmt/format.h>

#include "sim/workload/trace_reader.h"
#include "sim/workload/training/training_step.h"

namespace systole {

Graph read_trace(const std::filesystem::path& file, const std::vector<TraceOverride>& overrides) {
    return build_trace(config::load_yaml(file), overrides);
}

Graph build_trace(const config::YamlNode& document, const std::vector<TraceOverride>& overrides) {
    if (document.kind != config::YamlNode::Kind::Map)
        throw UserError(document.where,
                        fmt::format("a trace must be a map with 'trace', 'inputs', 'layers' and "
                                    "'outputs', not {}",
                                    config::to_string(document.kind)));
    Graph graph = TraceReader(document, overrides).read();
    if (!graph.training) return graph;
    const Training how = *graph.training;
    return training_step(std::move(graph), how);
}

}  // namespace systole
