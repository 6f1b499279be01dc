// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_simulator.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "sim/account/serving_rates.h"
#include "sim/app/load_device.h"
#include "sim/app/load_trace.h"
#include "sim/config/quantity.h"
#include "sim/sweep/digest.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;
using sweep::Metric;
using sweep::MetricKind;
using sweep::Resolved;

/// A document as a text that differs where documents do.
void write(std::string& out, const config::YamlNode& node) {
    out += fmt::format("{}:{}:", static_cast<int>(node.kind), node.scalar.size()) + node.scalar;
    for (const config::YamlNode& item : node.items) write(out, item);
    for (const config::YamlEntry& entry : node.entries) {
        out += fmt::format("{}=", entry.key);
        write(out, entry.value);
    }
    out += ';';
}

/// Mistakes of --set as mistakes of the experiment, where it says the value.
UserError at_places(const UserError& error, const std::vector<sweep::Setting>& settings) {
    std::vector<Diagnostic> moved = error.diagnostics();
    for (Diagnostic& each : moved)
        for (const sweep::Setting& setting : settings) {
            const std::string mark = "--set " + setting.path;
            if (each.where.line != 0 || (each.where.file != mark && !each.where.file.starts_with(mark + '=')))
                continue;
            each.where = setting.where;
            // Who keeps its own words for the place names it itself.
            if (each.message.find(setting.path) == std::string::npos)
                each.message = fmt::format("{}={}: {}", setting.path, setting.value, each.message);
            break;
        }
    return UserError(std::move(moved));
}

/// Without an exponent, as all numbers here are read.
std::string number(double value) {
    return config::format_number(value);
}

const std::vector<MetricKind>& metric_kinds() {
    static const std::vector<MetricKind> kinds = [] {
        std::vector<MetricKind> all{{"cycles"}, {"time_ns"}, {"macs"}, {"utilization", true, true}};
        for (std::size_t i = 0; i < kSlotClasses; ++i)
            all.push_back({std::string(to_string(static_cast<SlotClass>(i))), true, i == 0});
        for (const char* name : {"dram_read", "dram_written", "compulsory_dram", "roofline_cycles"})
            all.push_back({name});
        for (const char* name : {"roofline_bound", "bound_by"}) all.push_back({name, false});
        all.push_back({"energy_pj"});
        all.push_back({"tokens_per_s", true, true});
        return all;
    }();
    return kinds;
}

std::vector<Metric> metrics(const DeviceResult& result) {
    const ResultRow& total = result.total;
    std::vector<std::string> values{fmt::to_string(total.cycles.value()),
                                    number(static_cast<double>(total.time().value()) / 1000),
                                    fmt::to_string(total.macs.value()), number(total.utilization())};
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        values.push_back(number(total.fraction(static_cast<SlotClass>(i))));
    for (const std::int64_t count : {total.dram_read.value(), total.dram_written.value(),
                                     total.compulsory_dram.value(), total.roofline.floor().value()})
        values.push_back(fmt::to_string(count));
    values.emplace_back(total.roofline.bound());
    values.push_back(total.bound_by);
    values.push_back(
        result.energy.empty() ? "" : number(static_cast<double>(result.energy.total().value()) / 1000));
    values.push_back(result.serving ? number(serving_rates(*result.serving, total.time()).tokens_per_s) : "");
    std::vector<Metric> all;
    for (std::size_t i = 0; i < values.size(); ++i) all.push_back({metric_kinds()[i].name, values[i]});
    return all;
}

class Sources {
public:
    Sources(const Library& library, fs::path directory)
        : library_(library), directory_(std::move(directory)) {}

    LoadedDevice device(const std::string& reference, const std::vector<sweep::Setting>& settings) {
        const DeviceDocument& document = device_document(reference);
        try {
            return build_device(document, read(reference, settings));
        } catch (const UserError& error) {
            throw at_places(error, settings);
        }
    }

    const config::YamlNode& trace_document(const std::string& reference) {
        const auto found = traces_.find(reference);
        if (found != traces_.end()) return found->second;
        return traces_[reference] = load_trace_document(library_, place(reference), {});
    }

    Graph trace(const std::string& reference, const std::vector<sweep::Setting>& settings) {
        try {
            return build_trace(trace_document(reference), read("", settings).workload);
        } catch (const UserError& error) {
            throw at_places(error, settings);
        }
    }

    Protocol protocol(const std::vector<sweep::Setting>& settings) {
        try {
            return read("", settings).protocol;
        } catch (const UserError& error) {
            throw at_places(error, settings);
        }
    }

    std::vector<Metric> run(const std::string& device_name, const std::string& trace_name,
                            const std::vector<sweep::Setting>& settings) {
        const Settings read_once = read(device_name, settings);
        const LoadedDevice built = build_device(device_document(device_name), read_once);
        const Graph graph = build_trace(trace_document(trace_name), read_once.workload);
        DeviceResult result = built.device->run(graph, {read_once.protocol, false, false}).result;
        result.serving = graph.serving;
        return metrics(result);
    }

private:
    static Settings read(const std::string& device, const std::vector<sweep::Setting>& settings) {
        std::vector<std::string> texts;
        for (const sweep::Setting& setting : settings) texts.push_back(setting.path + '=' + setting.value);
        return read_settings(texts, Protocol::of_run(), {device});
    }

    std::string place(const std::string& reference) const {
        const bool is_file =
            reference.find('/') != std::string::npos || reference.ends_with(".yaml") || can_import(reference);
        return is_file ? (directory_ / reference).lexically_normal().string() : reference;
    }

    const DeviceDocument& device_document(const std::string& reference) {
        const auto found = devices_.find(reference);
        if (found != devices_.end()) return found->second;
        DeviceDocument document = read_device(library_, place(reference));
        document.resolve = [this, resolve = document.resolve](const std::string& name,
                                                              const SourceMark& where) {
            const std::string key = fs::path(where.file).parent_path().string() + '\n' + name;
            const auto known = presets_.find(key);
            if (known != presets_.end()) return known->second;
            return presets_[key] = resolve(name, where);
        };
        return devices_[reference] = std::move(document);
    }

    Library library_;
    fs::path directory_;
    std::map<std::string, DeviceDocument> devices_;
    std::map<std::string, config::YamlNode> traces_, presets_;
};

Resolved resolved(const config::YamlNode& trace) {
    Resolved all;
    std::string text;
    write(text, trace);
    all.digest = sweep::sha256(text);
    if (const config::YamlNode* params = trace.find("params"))
        for (const config::YamlEntry& entry : params->entries)
            all.values.emplace_back("workload." + entry.key, entry.value.scalar);
    return all;
}

}  // namespace

sweep::Simulator sweep_simulator(const Library& library, const fs::path& directory) {
    const auto sources = std::make_shared<Sources>(library, directory);
    sweep::Simulator simulator;
    simulator.program = "systole " SYSTOLE_VERSION;
    simulator.metrics = metric_kinds();
    simulator.device = [sources](const std::string& name, const std::vector<sweep::Setting>& settings) {
        Resolved all;
        for (const config::Entry& entry : sources->device(name, settings).entries)
            all.values.emplace_back(entry.path, entry.value);
        return all;
    };
    simulator.trace = [sources](const std::string& name, const std::vector<sweep::Setting>& settings) {
        sources->trace(name, settings);
        return resolved(sources->trace_document(name));
    };
    simulator.protocol = [sources](const std::vector<sweep::Setting>& settings) {
        Resolved all;
        for (const auto& [key, value] : describe(sources->protocol(settings)))
            all.values.emplace_back(key.starts_with("run.") ? key : "run." + key, value);
        return all;
    };
    simulator.run = [sources](const std::string& device, const std::string& trace,
                              const std::vector<sweep::Setting>& settings) {
        return sources->run(device, trace, settings);
    };
    return simulator;
}

}  // namespace systole::app
