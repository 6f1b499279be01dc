// SPDX-License-Identifier: Apache-2.0
// From a reference on the command line to a checked device and its effective configuration.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/command.h"
#include "sim/app/library.h"
#include "sim/app/settings.h"
#include "sim/device/cost_config.h"
#include "sim/device/device.h"

namespace systole::app {

struct LoadedDevice {
    std::string name;  ///< the file's name without ".yaml"
    std::string title;
    std::string about;  ///< what the comment at the head of its file says: lines of text
    Fidelity fidelity = Fidelity::Detailed;
    std::vector<config::Entry> entries;
    std::string effective_yaml;
    std::unique_ptr<Device> device;
    CostSpec cost;

    /// Throws UserError unless the device has a price, which `called` names it in.
    void expect_prices(const std::string& called) const;
    /// Puts into the result of a run what it costs. Throws UserError where that cannot be known.
    void tell_cost(DeviceResult& result) const;
    /// The same of those prices for which it can be known, if there are any.
    void tell_known_cost(DeviceResult& result) const;

    /// Device::run, with the configuration and the fidelity in the result.
    RunOutcome run(const Graph& graph, const RunOptions& options) const;
    RunOutcome run_program(const std::string& text, const std::string& file, const RunOptions& options) const;
    /// Device::explain, with what must be known of its figures.
    std::string explain(const Graph& graph, const Protocol& protocol) const;
};

/// A device's file, read once and built as often as wanted.
struct DeviceDocument {
    std::string reference;  ///< as the command line has it
    std::filesystem::path file;
    config::YamlNode document;
    config::Config::Resolver resolve;
};
/// Throws UserError where there is none, or something else.
DeviceDocument read_device(const Library& library, const std::string& reference);

/// Overrides, builds and checks; `about` stays empty. Throws UserError as load_device does.
LoadedDevice build_device(const DeviceDocument& document, const Settings& settings);

/// Loads, overrides, builds and checks. Throws UserError with every mistake of the configuration, and where
/// the device cannot be measured as the protocol says.
LoadedDevice load_device(const Library& library, const std::string& reference, const Settings& settings);

/// Reads every key that a device has, and makes nothing of them; mistakes stay in `config`.
void read_device_keys(config::Config& config);

/// The document of --mapping, if it is given.
std::optional<config::YamlNode> read_mapping_file(const Arguments& arguments);

}  // namespace systole::app
