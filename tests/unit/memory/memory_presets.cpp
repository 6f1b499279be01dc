// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/memory/memory_presets.h"

#include <algorithm>
#include <filesystem>

#include "models/memory/config/dram_config.h"

namespace systole::test {

std::vector<std::string> memory_names() {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator("configs/memory"))
        names.push_back(file.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

config::Config memory_config(const std::string& name) {
    const auto document = [](const std::string& preset) {
        return config::load_yaml("configs/memory/" + preset + ".yaml");
    };
    return config::Config::from_document(
        document(name), [&](const std::string& preset, const SourceMark&) { return document(preset); });
}

DramSpec memory_spec(const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& settings) {
    config::Config memory = memory_config(name);
    for (const auto& [path, value] : settings) memory.set(path, value);
    DramSpec spec = read_dram_spec(memory.root());
    memory.finish();
    return spec;
}

}  // namespace systole::test
