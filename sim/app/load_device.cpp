// SPDX-License-Identifier: Apache-2.0
#include "sim/app/load_device.h"

#include "sim/app/device_kinds.h"
#include "sim/app/files.h"
#include "sim/config/yaml.h"

namespace systole::app {
RunOutcome LoadedDevice::run(const Graph& graph, const RunOptions& options) const {
    RunOutcome outcome = device->run(graph, options);
    outcome.result.effective_config = effective_yaml;
    return outcome;
}

RunOutcome LoadedDevice::run_program(const std::string& text, const std::string& file,
                                     const RunOptions& options) const {
    RunOutcome outcome = device->run_program(text, file, options);
    outcome.result.effective_config = effective_yaml;
    return outcome;
}

LoadedDevice load_device(const Library& library, const std::string& reference,
                         const std::vector<Setting>& settings) {
    const std::filesystem::path file = library.resolve(Shelf::Devices, reference);
    const config::YamlNode document = config::load_yaml(file);
    if (document.find("trace") && document.find("layers"))
        throw UserError({file.string()}, "this is a trace, not a device; expected 'systole … DEVICE TRACE'");
    config::Config config = config::Config::from_document(document, library.resolver());
    for (const Setting& setting : settings)
        if (setting.device.empty() || setting.device == reference) config.set(setting.path, setting.value);
    LoadedDevice loaded;
    loaded.name = file.stem().string();
    loaded.device = make_device(config, loaded.name);
    config.finish();
    loaded.title = config.title();
    loaded.about = leading_comment(file);
    loaded.entries = config.effective();
    loaded.effective_yaml = config.effective_yaml();
    return loaded;
}

std::optional<config::YamlNode> read_mapping_file(const Arguments& arguments) {
    const auto file = arguments.option("mapping");
    return file ? std::optional(config::load_yaml(*file)) : std::nullopt;
}

}  // namespace systole::app
