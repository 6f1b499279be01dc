// SPDX-License-Identifier: Apache-2.0
#include "sim/app/load_device.h"

#include <fmt/format.h>

#include "sim/app/device_kinds.h"
#include "sim/app/files.h"
#include "sim/config/yaml.h"

namespace systole::app {
namespace {

/// A device whose runs leave nothing behind would answer to a replay with its first run: a silent lie.
void refuse_replays(const LoadedDevice& device, const Protocol& protocol) {
    if (protocol.runs_once() || device.device->replays()) return;
    const std::string key = protocol.repeat != 1 ? "run.repeat" : "run.weight_copies";
    throw UserError({"--set " + key}, fmt::format("{} runs every network once, from the start; expected {}=1",
                                                  device.name, key));
}

/// Of the whole device in a run, where it has figures for all of it.
std::optional<Femtojoules> energy_of(const DeviceResult& result) {
    return result.energy_is_whole ? std::optional(result.energy.total()) : std::nullopt;
}

/// Of any kind of device: what is published carries a model in detail, or an outline of one.
Fidelity read_fidelity(config::Config& config) {
    const std::vector<std::string> names{"detailed", "outline"};
    const std::size_t chosen = config.root().choice(
        "fidelity", "outline: published facts do not carry a detailed model; every result says so", names, 0);
    return static_cast<Fidelity>(chosen);
}

}  // namespace

void LoadedDevice::expect_prices(const std::string& called) const {
    if (const std::string missing = missing_for_cost(cost, true); !missing.empty())
        throw UserError(fmt::format("{}: {}", called, missing));
}

void LoadedDevice::tell_cost(DeviceResult& result) const {
    if (const std::string missing = missing_for_cost(cost, energy_of(result).has_value()); !missing.empty())
        throw UserError(fmt::format("{}: {}", result.device, missing));
    tell_known_cost(result);
}

void LoadedDevice::tell_known_cost(DeviceResult& result) const {
    RunCost known = cost_of(
        cost, {result.total.time(), energy_of(result), result.serving, result.batch_of, result.step_chips});
    if (!known.prices.empty()) result.cost = std::move(known);
}

RunOutcome LoadedDevice::run(const Graph& graph, const RunOptions& options) const {
    RunOutcome outcome = device->run(graph, options);
    outcome.result.effective_config = effective_yaml;
    outcome.result.fidelity = fidelity;
    return outcome;
}

RunOutcome LoadedDevice::run_program(const std::string& text, const std::string& file,
                                     const RunOptions& options) const {
    RunOutcome outcome = device->run_program(text, file, options);
    outcome.result.effective_config = effective_yaml;
    outcome.result.fidelity = fidelity;
    return outcome;
}

std::string LoadedDevice::explain(const Graph& graph, const Protocol& protocol) const {
    const std::string sentence = fidelity_sentence(fidelity);
    return device->explain(graph, protocol) + (sentence.empty() ? "" : '\n' + sentence + '\n');
}

DeviceDocument read_device(const Library& library, const std::string& reference) {
    DeviceDocument device{reference, library.resolve(Shelf::Devices, reference), {}, library.resolver()};
    device.document = config::load_yaml(device.file);
    if (device.document.find("trace") && device.document.find("layers"))
        throw UserError({device.file.string()},
                        "this is a trace, not a device; expected 'systole … DEVICE TRACE'");
    return device;
}

LoadedDevice build_device(const DeviceDocument& from, const Settings& settings) {
    config::Config config = config::Config::from_document(from.document, from.resolve);
    for (const Setting& setting : settings.device)
        if (setting.device.empty() || setting.device == from.reference)
            config.set(setting.path, setting.value);
    LoadedDevice loaded;
    loaded.name = from.file.stem().string();
    loaded.device = make_device(config, loaded.name);
    loaded.cost = read_cost(config.root());
    loaded.fidelity = read_fidelity(config);
    config.finish();
    refuse_replays(loaded, settings.protocol);
    loaded.title = config.title();
    loaded.entries = config.effective();
    name_origins(loaded.cost, loaded.entries);
    loaded.effective_yaml = config.effective_yaml();
    return loaded;
}

LoadedDevice load_device(const Library& library, const std::string& reference, const Settings& settings) {
    const DeviceDocument document = read_device(library, reference);
    LoadedDevice loaded = build_device(document, settings);
    loaded.about = leading_comment(document.file);
    return loaded;
}

void read_device_keys(config::Config& config) {
    read_spec(config);
    read_cost(config.root());
    read_fidelity(config);
}

std::optional<config::YamlNode> read_mapping_file(const Arguments& arguments) {
    const auto file = arguments.option("mapping");
    return file ? std::optional(config::load_yaml(*file)) : std::nullopt;
}

}  // namespace systole::app
