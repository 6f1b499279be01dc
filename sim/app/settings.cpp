// SPDX-License-Identifier: Apache-2.0
#include "sim/app/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/config/config.h"

namespace systole::app {
namespace {

constexpr std::string_view kWorkload = "workload.";
constexpr std::string_view kProtocol = "run.";

SourceMark mark(const std::string& text) {
    return {"--set " + text, 0, 0};
}

Setting split(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw UserError(mark(text), "expected PATH=VALUE, for example --set mxu.rows=64");
    const std::string left = text.substr(0, equals);
    // Paths hold no ':', names of files may.
    const std::size_t colon = left.rfind(':');
    if (colon == std::string::npos) return {"", left, text.substr(equals + 1)};
    return {left.substr(0, colon), left.substr(colon + 1), text.substr(equals + 1)};
}

void check_target(const Setting& setting, const std::string& text, const std::vector<std::string>& devices) {
    if (text.find(':') > text.find('=')) return;
    if (std::find(devices.begin(), devices.end(), setting.device) == devices.end())
        throw UserError(mark(text), fmt::format("'{}' is none of this command's devices{}", setting.device,
                                                did_you_mean(setting.device, devices)));
    if (setting.path.starts_with(kWorkload) || setting.path.starts_with(kProtocol))
        throw UserError(mark(text), "workload.* and run.* concern the whole command, not one device");
}

/// "auto", or a count.
int read_copies(config::Section& run, int fallback) {
    const std::string text = run.text(
        "weight_copies",
        "times that the network runs in a turn, each with its own copy of the weights; auto: as many "
        "as the largest cache needs to have lost the first one, at most 5",
        fallback == Protocol::kEnoughCopies ? "auto" : std::to_string(fallback));
    if (text == "auto") return Protocol::kEnoughCopies;
    const auto copies = config::parse_integer(text, 1, Protocol::kMostRuns);
    if (!copies.value)
        run.fail("weight_copies", fmt::format("expected auto or a number of copies: {}", copies.problem));
    return static_cast<int>(copies.value.value_or(1));
}

/// Turns that a measurement of a repeated network took.
void read_turns(config::Section& run, const Protocol& defaults, Protocol& protocol) {
    const auto turns = [&](std::string_view key, std::string_view meaning, int fallback) {
        return static_cast<int>(run.count(key, meaning, {0, Protocol::kMostTurns}, fallback));
    };
    protocol.timed_turns =
        turns("timed_turns", "turns that the time is a mean of, as far as limits of power go; 0: for long",
              protocol.repeat > 1 ? defaults.timed_turns : 0);
    protocol.warm_turns = turns("warm_turns", "turns before those that are timed",
                                protocol.timed_turns > 0 ? defaults.warm_turns : 0);
    if (protocol.timed_turns > 0 && protocol.repeat == 1)
        run.fail("timed_turns", "the network runs once; expected run.repeat of 2 at least, too");
    if (protocol.timed_turns == 0 && protocol.warm_turns > 0)
        run.fail("warm_turns", "turns before none that are timed; expected run.timed_turns, too");
}

/// What is not set otherwise, of a way of measuring that has a name.
Protocol named_protocol(config::Section& run, const Protocol& own) {
    Protocol protocol = own;
    const std::vector<std::string> names{"none", "graph_replay"};
    if (run.choice(
            "protocol",
            "a way of measuring: graph_replay, a graph of as many runs as launch=graph weight_copies=auto "
            "say, replayed until caches are warm (repeat=2), timed as a mean of six turns behind three "
            "(warm_turns=3 timed_turns=6)",
            names, 0) == 0)
        return protocol;
    protocol.launch = Protocol::Launch::Graph;
    protocol.weight_copies = Protocol::kEnoughCopies;
    protocol.repeat = 2;
    protocol.warm_turns = 3;
    protocol.timed_turns = 6;
    return protocol;
}

/// A configuration without files, so that `run.*` is read and checked like every other key.
config::Config empty_config() {
    config::YamlNode document;
    document.kind = config::YamlNode::Kind::Map;
    document.where.file = "--set";
    return config::Config::from_document(document, [](const std::string& name, const SourceMark& where) {
        throw UserError(where, "no preset " + name);
        return config::YamlNode{};
    });
}

}  // namespace

Protocol read_protocol(config::Config& config, const Protocol& of_command) {
    const std::vector<std::string> places{"host", "dram", "onchip"};
    config::Section run = config.root().section("run");
    const Protocol defaults = named_protocol(run, of_command);
    Protocol protocol;
    protocol.inputs_at =
        static_cast<Protocol::Where>(run.choice("inputs_at", "where the inputs lie when time starts", places,
                                                static_cast<std::size_t>(defaults.inputs_at)));
    protocol.outputs_to =
        static_cast<Protocol::Where>(run.choice("outputs_to", "where the outputs must be when time ends",
                                                places, static_cast<std::size_t>(defaults.outputs_to)));
    protocol.launch = static_cast<Protocol::Launch>(
        run.choice("launch",
                   "what the host's launches cost: none, nothing; graph, one launch for all (on a GPU, "
                   "before each kernel, the wait between those of a CUDA graph); stream, a launch of each "
                   "layer (on a GPU, the wait between kernels of a stream)",
                   {"none", "graph", "stream"}, static_cast<std::size_t>(defaults.launch)));
    protocol.refresh_phase =
        run.time("refresh_phase", "since the last refresh of every DRAM channel when time starts",
                 defaults.refresh_phase);
    protocol.reuse = static_cast<Protocol::Reuse>(
        run.choice("reuse",
                   "whether equal turns of repeated blocks, equal steps of a layer, and alike CTAs of a long "
                   "kernel need not all be simulated: on, where that is known to be off by 0.1 % (on a GPU "
                   "0.2 %) at most; rough, of blocks that differ by more a few turns, which tell their mean "
                   "to 1 %",
                   {"off", "on", "rough"}, static_cast<std::size_t>(defaults.reuse)));
    protocol.repeat = static_cast<int>(
        run.count("repeat", "turns, with caches as the one before left them; the last is reported",
                  {1, Protocol::kMostRuns}, defaults.repeat));
    protocol.weight_copies = read_copies(run, defaults.weight_copies);
    read_turns(run, defaults, protocol);
    return protocol;
}

Settings read_settings(const std::vector<std::string>& texts, const Protocol& defaults,
                       const std::vector<std::string>& devices) {
    Settings settings;
    config::Config protocol = empty_config();
    std::set<std::pair<std::string, std::string>> seen;
    for (const std::string& text : texts) {
        const Setting setting = split(text);
        check_target(setting, text, devices);
        if (!seen.emplace(setting.device, setting.path).second)
            throw UserError(mark(text), fmt::format("'{}' is set twice", setting.path));
        if (setting.path.starts_with(kWorkload))
            settings.workload.push_back({setting.path.substr(kWorkload.size()), setting.value, mark(text)});
        else if (setting.path.starts_with(kProtocol))
            protocol.set(setting.path, setting.value);
        else
            settings.device.push_back(setting);
    }
    // A preset replaces everything below its path, so what else is set there comes after it.
    std::stable_partition(settings.device.begin(), settings.device.end(),
                          [](const Setting& setting) { return setting.path.ends_with(".preset"); });
    settings.protocol = read_protocol(protocol, defaults);
    protocol.finish();
    return settings;
}

void refuse_workload(const Settings& settings, const std::string& reason) {
    std::vector<Diagnostic> mistakes;
    for (const TraceOverride& override : settings.workload)
        mistakes.push_back({override.where, "workload.* sets parameters of a trace, and " + reason});
    if (!mistakes.empty()) throw UserError(std::move(mistakes));
}

}  // namespace systole::app
