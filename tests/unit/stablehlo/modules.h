// SPDX-License-Identifier: Apache-2.0
// Modules of StableHLO, what becomes of them, and what is said of it.
#pragma once

#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/config/yaml.h"
#include "sim/workload/importers/stablehlo/stablehlo_import.h"
#include "sim/workload/trace.h"

namespace systole::test {

struct Network {
    Imported imported;
    Graph graph;
};

inline Network network(const std::string& text, const std::vector<std::string>& inputs = {}) {
    Network network{import_stablehlo(text, "m.mlir", inputs), {}};
    network.graph = build_trace(config::parse_yaml(network.imported.trace, "imported.yaml"), {});
    return network;
}

inline std::string refusal(const std::string& text, const std::vector<std::string>& inputs = {}) {
    try {
        import_stablehlo(text, "m.mlir", inputs);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

inline std::string module_of(const std::string& arguments, const std::string& results,
                             const std::string& body) {
    return "module @m {\n  func.func public @main(" + arguments + ") -> (" + results + ") {\n" + body +
           "\n  }\n}\n";
}

inline std::string all_notes(const Imported& imported) {
    std::string text;
    for (const ImportNote& note : imported.notes) text += to_string(note) + "\n";
    return text;
}

}  // namespace systole::test
