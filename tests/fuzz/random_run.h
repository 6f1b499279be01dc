// SPDX-License-Identifier: Apache-2.0
// Bytes as choices of a machine and of a workload for it: whatever they are, both are as a user may write
// them, so that what is looked at is the simulator, not its readers.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.h"
#include "sim/device/device.h"
#include "tests/support/dice.h"

namespace systole::fuzz {

/// Paths and values, as --set has them.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// A machine that can be varied.
struct Variable {
    std::string document;                ///< YAML
    std::vector<config::Entry> entries;  ///< its effective configuration
};

/// Reads `document` over the shipped presets with `settings`, and finishes `config`. Throws UserError.
using MakeDevice = std::unique_ptr<Device> (*)(config::Config& config);
std::unique_ptr<Device> make(const std::string& document, const Settings& settings, MakeDevice make_device);
Variable variable(const std::string& document, MakeDevice make_device);

/// A small network of any kind: products, maps, sums over chips, a step of a language model. Throws UserError
/// where the choices go together in no network.
std::string random_network(test::ChosenBytes& chosen);

/// Runs it there twice, with its timeline and by the program that it is lowered to. A UserError is an answer;
/// throws std::logic_error where two runs of one thing differ.
void run_everything(const Device& device, const Graph& graph, const Protocol& protocol);

}  // namespace systole::fuzz
