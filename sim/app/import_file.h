// SPDX-License-Identifier: Apache-2.0
// Files of networks that others write, by what their names end in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/workload/importers/imported.h"
#include "sim/workload/importers/onnx/onnx_import.h"

namespace systole::app {

/// What a file leaves to its reader.
struct ImportChoices {
    OnnxChoices onnx;
    std::vector<std::string> inputs;  ///< arguments of a StableHLO module that are no weights
};

/// What names of files end in that can be imported: ".csv", ".json", ".mlir", ".onnx".
const std::vector<std::string>& import_endings();
bool can_import(const std::filesystem::path& file);
/// Whether a `.json` has the keys `trace` and `layers`: JSON is YAML, and a native trace may be written so.
/// Throws UserError for a `.json` that cannot be read, or is no JSON.
bool holds_trace(const std::filesystem::path& file);
/// Reads the file. Throws UserError with every mistake, for endings that are not known, and for choices that
/// the file does not leave.
Imported import_file(const std::filesystem::path& file, const ImportChoices& choices);

}  // namespace systole::app
