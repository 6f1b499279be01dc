// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/import_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/workload/importers/huggingface_config.h"
#include "sim/workload/importers/scalesim_topology.h"

namespace systole {

const std::vector<std::string>& import_endings() {
    static const std::vector<std::string> endings{".csv", ".json"};
    return endings;
}

bool can_import(const std::filesystem::path& file) {
    return std::ranges::find(import_endings(), file.extension().string()) != import_endings().end();
}

std::size_t import_limit(const std::filesystem::path& file) {
    constexpr std::size_t kMebi = std::size_t{1} << 20;
    return file.extension() == ".json" ? kMebi : 16 * kMebi;
}

Imported import_text(const std::string& text, const std::filesystem::path& file) {
    if (!can_import(file))
        throw UserError({file.string()},
                        fmt::format("cannot tell what this is; expected a name that ends in {}",
                                    fmt::join(import_endings(), ", ")));
    if (file.extension() == ".json") return import_huggingface_config(text, file.string());
    return import_scalesim_topology(text, file.string());
}

}  // namespace systole
