// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/import_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "sim/workload/importers/huggingface_config.h"
#include "sim/workload/importers/scalesim_topology.h"
#include "sim/workload/trace.h"

namespace systole {

const std::vector<std::string>& import_endings() {
    static const std::vector<std::string> endings{".csv", ".json"};
    return endings;
}

namespace {

/// ".csv" of "NET.CSV".
std::string ending_of(const std::filesystem::path& file) {
    std::string ending = file.extension().string();
    for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return ending;
}

/// What the trace reader finds wrong with sizes is wrong with the file they come from.
void read_back(const Imported& imported, const std::string& file) {
    try {
        build_trace(config::parse_yaml(imported.trace, file), {});
    } catch (const UserError& error) {
        std::vector<Diagnostic> mistakes = error.diagnostics();
        for (Diagnostic& mistake : mistakes) mistake.where = {file, 1, 1};
        throw UserError(std::move(mistakes));
    }
}

}  // namespace

bool can_import(const std::filesystem::path& file) {
    return std::ranges::find(import_endings(), ending_of(file)) != import_endings().end();
}

std::size_t import_limit(const std::filesystem::path& file) {
    constexpr std::size_t kMebi = std::size_t{1} << 20;
    return ending_of(file) == ".json" ? 4 * kMebi : 16 * kMebi;
}

Imported import_text(const std::string& text, const std::filesystem::path& file) {
    if (!can_import(file))
        throw UserError({file.string()},
                        fmt::format("cannot tell what this is; expected a name that ends in {}",
                                    fmt::join(import_endings(), ", ")));
    if (ending_of(file) == ".json") {
        Imported imported = import_huggingface_config(text, file.string());
        read_back(imported, file.string());
        return imported;
    }
    return import_scalesim_topology(text, file.string());
}

}  // namespace systole
