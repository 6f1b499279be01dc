// SPDX-License-Identifier: Apache-2.0
#include "sim/app/load_trace.h"

#include "sim/app/files.h"
#include "sim/app/terminal.h"
#include "sim/workload/importers/import_file.h"

namespace systole::app {

Imported import_file(const std::string& file) {
    return import_text(read_text(file, import_limit(file)), file);
}

config::YamlNode load_trace_document(const Library& library, const std::string& reference) {
    const std::filesystem::path file = library.resolve(Shelf::Traces, reference);
    if (!can_import(file)) return config::load_yaml(file);
    const Imported imported = import_file(file.string());
    for (const ImportNote& each : imported.notes) complain(to_string(each));
    return config::parse_yaml(imported.trace, file.string() + " (imported)");
}

Graph load_trace(const Library& library, const std::string& reference,
                 const std::vector<TraceOverride>& overrides) {
    return build_trace(load_trace_document(library, reference), overrides);
}

}  // namespace systole::app
