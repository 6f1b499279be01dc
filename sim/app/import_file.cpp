// SPDX-License-Identifier: Apache-2.0
#include "sim/app/import_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "sim/app/files.h"
#include "sim/workload/importers/huggingface_config.h"
#include "sim/workload/importers/json_object.h"
#include "sim/workload/importers/scalesim_topology.h"
#include "sim/workload/importers/stablehlo/stablehlo_import.h"
#include "sim/workload/trace.h"

namespace systole::app {

const std::vector<std::string>& import_endings() {
    static const std::vector<std::string> endings{".csv", ".json", ".mlir", ".onnx"};
    return endings;
}

namespace {

constexpr std::size_t kMebi = std::size_t{1} << 20;
constexpr std::size_t kLargestTrace = 64 * kMebi;  // as YAML files may be

/// ".csv" of "NET.CSV".
std::string ending_of(const std::filesystem::path& file) {
    std::string ending = file.extension().string();
    for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return ending;
}

/// Of a model only what is not weights is read.
Imported import_model(const std::filesystem::path& file, const OnnxChoices& choices) {
    if (!reads_onnx()) {
        std::istringstream nothing;
        return import_onnx(nothing, file.string(), choices);
    }
    std::error_code ignored;
    std::ifstream in(file, std::ios::binary);
    if (!in || std::filesystem::is_directory(file, ignored))
        throw UserError(
            {file.string()},
            fmt::format("cannot be read: {}",
                        std::filesystem::exists(file, ignored) ? "no plain file" : "no such file"));
    return import_onnx(in, file.string(), choices);
}

void expect_readable_size(const Imported& imported, const std::string& file) {
    if (imported.trace.size() > kLargestTrace)
        throw UserError({file}, fmt::format("as a trace this has {} MiB; {} are read at most",
                                            imported.trace.size() / kMebi, kLargestTrace / kMebi));
}

/// What the trace reader finds wrong with sizes is wrong with the file they come from.
void read_back(const Imported& imported, const std::string& file) {
    expect_readable_size(imported, file);
    try {
        build_trace(config::parse_yaml(imported.trace, file), {});
    } catch (const UserError& error) {
        std::vector<Diagnostic> mistakes = error.diagnostics();
        for (Diagnostic& mistake : mistakes) mistake.where = {file, 1, 1};
        throw UserError(std::move(mistakes));
    }
}

void expect_no_inputs(const std::filesystem::path& file, const ImportChoices& choices) {
    if (!choices.inputs.empty()) throw UserError({file.string()}, "--input is for StableHLO modules (.mlir)");
}

}  // namespace

bool can_import(const std::filesystem::path& file) {
    return std::ranges::find(import_endings(), ending_of(file)) != import_endings().end();
}

bool holds_trace(const std::filesystem::path& file) {
    if (ending_of(file) != ".json") return false;
    const std::string text = read_text(file.string(), kLargestConfig);
    const JsonObject object(text, file.string());
    return object.has("trace") && object.has("layers");
}

Imported import_file(const std::filesystem::path& file, const ImportChoices& choices) {
    if (!can_import(file))
        throw UserError({file.string()},
                        fmt::format("cannot tell what this is; expected a name that ends in {}",
                                    fmt::join(import_endings(), ", ")));
    if (ending_of(file) == ".onnx") {
        expect_no_inputs(file, choices);
        Imported imported = import_model(file, choices.onnx);
        read_back(imported, file.string());
        return imported;
    }
    if (!choices.onnx.dims.empty() || !choices.onnx.branches.empty())
        throw UserError({file.string()}, "--dim and --branch are for ONNX models (.onnx)");
    if (ending_of(file) == ".mlir") {
        // Weights may be in it, written out; they are passed over.
        Imported imported =
            import_stablehlo(read_text(file.string(), 256 * kMebi), file.string(), choices.inputs);
        read_back(imported, file.string());
        return imported;
    }
    expect_no_inputs(file, choices);
    // What is read of these takes some thirty times as much memory.
    if (ending_of(file) == ".json") {
        if (holds_trace(file)) throw UserError({file.string()}, "this is a trace already");
        Imported imported =
            import_huggingface_config(read_text(file.string(), kLargestConfig), file.string());
        read_back(imported, file.string());
        return imported;
    }
    // Tables have many rows, and their importer refuses itself all that a trace cannot have.
    Imported imported = import_scalesim_topology(read_text(file.string(), 16 * kMebi), file.string());
    expect_readable_size(imported, file.string());
    return imported;
}

}  // namespace systole::app
