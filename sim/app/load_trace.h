// SPDX-License-Identifier: Apache-2.0
// A trace as a command line names it: a shipped one by its name, a file, or a file of others that is
// imported.
#pragma once

#include <string>
#include <vector>

#include "sim/account/run_result.h"
#include "sim/app/import_file.h"
#include "sim/app/library.h"
#include "sim/config/yaml.h"
#include "sim/workload/trace.h"

namespace systole::app {

/// What the trace says of itself: parameters, and of its time, tokens, items of a batch, a step of training.
void tell_trace(const Graph& graph, DeviceResult& result);

/// The trace that `reference` means; of an imported one, notes go to the standard error output. Throws
/// UserError.
config::YamlNode load_trace_document(const Library& library, const std::string& reference,
                                     const ImportChoices& choices);
Graph load_trace(const Library& library, const std::string& reference,
                 const std::vector<TraceOverride>& overrides, const ImportChoices& choices);

}  // namespace systole::app
