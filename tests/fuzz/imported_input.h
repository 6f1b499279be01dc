// SPDX-License-Identifier: Apache-2.0
// What an importer makes of an input must be a trace: a refusal of it is the importer's fault.
#pragma once

#include <stdexcept>
#include <string>

#include "sim/config/yaml.h"
#include "sim/workload/importers/imported.h"
#include "sim/workload/trace.h"

namespace systole::fuzz {

/// `import` answers an Imported. What is too large for any trace (`sizes`) it may leave to the trace reader.
template <typename Import>
void import_input(const Import& import, bool leaves_sizes = false) {
    Imported imported;
    try {
        imported = import();
    } catch (const UserError&) {
        return;
    }
    try {
        build_trace(config::parse_yaml(imported.trace, "imported.yaml"), {});
    } catch (const UserError& error) {
        if (!leaves_sizes)
            throw std::logic_error(std::string("what was imported is no trace: ") + error.what());
    }
}

}  // namespace systole::fuzz
