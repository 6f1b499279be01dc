// SPDX-License-Identifier: Apache-2.0
#include "sim/app/load_trace.h"

#include "sim/app/import_file.h"
#include "sim/app/terminal.h"

namespace systole::app {

void tell_trace(const Graph& graph, DeviceResult& result) {
    result.serving = graph.serving;
    result.batch_of = graph.batch_of;
    result.parameters = graph.parameters;
    if (graph.training)
        result.step_chips = graph.serving ? graph.serving->chips() : graph.training->data_parallel;
}

config::YamlNode load_trace_document(const Library& library, const std::string& reference,
                                     const ImportChoices& choices) {
    const std::filesystem::path file = library.resolve(Shelf::Traces, reference);
    if (!can_import(file) || holds_trace(file)) {
        if (!choices.onnx.dims.empty() || !choices.onnx.branches.empty())
            throw UserError({file.string()},
                            "--dim and --branch are for ONNX models (.onnx); a trace has parameters: "
                            "--set workload.NAME=VALUE");
        if (!choices.inputs.empty())
            throw UserError({file.string()}, "--input is for StableHLO modules (.mlir)");
        return config::load_yaml(file);
    }
    const Imported imported = import_file(file, choices);
    for (const ImportNote& each : imported.notes) complain(to_string(each));
    return config::parse_yaml(imported.trace, file.string() + " (imported)");
}

Graph load_trace(const Library& library, const std::string& reference,
                 const std::vector<TraceOverride>& overrides, const ImportChoices& choices) {
    return build_trace(load_trace_document(library, reference, choices), overrides);
}

}  // namespace systole::app
