// SPDX-License-Identifier: Apache-2.0
#include "sim/app/load_memory.h"

#include <fmt/format.h>

#include <set>

#include "models/memory/config/dram_config.h"
#include "sim/app/files.h"
#include "sim/app/settings.h"
#include "sim/base/error.h"
#include "sim/config/yaml.h"

namespace systole::app {
namespace {

constexpr std::string_view kPrefix = "memory.";
constexpr std::string_view kPhase = "run.refresh_phase=";

/// Of the protocol only the refresh phase concerns a memory on its own.
void refuse_protocol(const std::vector<std::string>& settings) {
    for (const std::string& text : settings)
        if (text.starts_with("run.") && !text.starts_with(kPhase))
            throw UserError({"--set " + text},
                            "of run.* only run.refresh_phase concerns a memory on its own");
}

}  // namespace

LoadedMemory load_memory(const Library& library, const std::string& reference,
                         const std::vector<std::string>& texts) {
    refuse_protocol(texts);
    const Settings settings = read_settings(texts, Protocol::of_op(), {reference});
    refuse_workload(settings, "requests have none");
    const std::filesystem::path file = library.resolve(Shelf::Memories, reference);
    const config::YamlNode document = config::load_yaml(file);
    if (document.find("mxu") || document.find("layers"))
        throw UserError({file.string()},
                        "this is no memory; expected a file such as those of configs/memory");
    config::Config config = config::Config::from_document(document, library.resolver());
    std::set<std::string> seen;
    for (const Setting& setting : settings.device) {
        const bool prefixed = setting.path.starts_with(kPrefix);
        const std::string path = prefixed ? setting.path.substr(kPrefix.size()) : setting.path;
        if (!seen.insert(path).second)
            throw UserError({"--set " + setting.path}, fmt::format("'{}' is set twice", path));
        config.set(path, setting.value);
    }
    LoadedMemory loaded;
    loaded.name = file.stem().string();
    loaded.spec = read_dram_spec(config.root());
    loaded.spec.refresh_phase = settings.protocol.refresh_phase;
    config.finish();
    loaded.title = config.title();
    loaded.about = leading_comment(file);
    loaded.entries = config.effective();
    loaded.effective_yaml = config.effective_yaml();
    return loaded;
}

}  // namespace systole::app
