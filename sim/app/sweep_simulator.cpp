// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_simulator.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <variant>

#include "sim/app/load_device.h"
#include "sim/app/load_trace.h"
#include "sim/app/sweep_figures.h"
#include "sim/app/version.h"
#include "sim/base/mistakes.h"
#include "sim/sweep/digest.h"
#include "sim/sweep/point_identity.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;
using sweep::Metric;
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

/// The setting that a mistake of --set is about, or null: of what a way of measuring with a name stands for,
/// that name.
const sweep::Setting* setting_of(const Diagnostic& mistake, const std::vector<sweep::Setting>& settings) {
    if (mistake.where.line != 0) return nullptr;
    const sweep::Setting* protocol = nullptr;
    for (const sweep::Setting& setting : settings) {
        const std::string mark = "--set " + setting.path;
        if (mistake.where.file == mark || mistake.where.file.starts_with(mark + '=')) return &setting;
        if (setting.path == "run.protocol") protocol = &setting;
    }
    return mistake.where.file.starts_with("--set run.") ? protocol : nullptr;
}

/// Mistakes of --set as mistakes of the experiment, where it says the value.
UserError at_places(const UserError& error, const std::vector<sweep::Setting>& settings) {
    std::vector<Diagnostic> moved = error.diagnostics();
    for (Diagnostic& each : moved) {
        const sweep::Setting* setting = setting_of(each, settings);
        if (!setting) continue;
        each.where = setting->where;
        // Who keeps its own words for the place names it itself.
        if (each.message.find(setting->path) == std::string::npos)
            each.message = fmt::format("{}={}: {}", setting->path, setting->value, each.message);
    }
    return UserError(std::move(moved));
}

/// Mistakes of --set where nobody has given any: of a key.
UserError of_keys(const UserError& error) {
    constexpr std::string_view kMark = "--set ";
    std::vector<Diagnostic> moved = error.diagnostics();
    for (Diagnostic& each : moved) {
        if (each.where.line != 0 || !each.where.file.starts_with(kMark)) continue;
        const std::string key =
            each.where.file.substr(kMark.size(), each.where.file.find('=') - kMark.size());
        each.where = {};
        if (!each.message.starts_with(key)) each.message = fmt::format("{}: {}", key, each.message);
    }
    return UserError(std::move(moved));
}

/// Refuses a product of two operands of one type that the matrix units do not take, where the parameter says
/// it that has made it so. Products of two types, and what other units may do, are found when they run.
void refuse_dtypes(const Graph& graph, const LoadedDevice& device,
                   const std::vector<sweep::Setting>& params) {
    for (const Layer& layer : graph.layers) {
        const auto* conv = std::get_if<Conv2d>(&layer.op);
        if (!std::holds_alternative<MatMul>(layer.op) && !(conv && conv->groups == 1)) continue;
        const TensorId second = layer.weights ? *layer.weights : layer.inputs.at(1);
        const DType dtype = graph.tensors[layer.inputs.at(0)].dtype;
        if (graph.tensors[second].dtype != dtype || device.device->supports(dtype)) continue;
        SourceMark where = layer.where;
        for (const sweep::Setting& each : params)
            if (each.value == to_string(dtype)) where = each.where;
        std::string known;
        for (const std::string& name : dtype_names())
            if (device.device->supports(*parse_dtype(name))) known += (known.empty() ? "" : ", ") + name;
        throw UserError(where, fmt::format("'{}': the matrix units of {} do not take {}; they take {}",
                                           layer.name, device.name, to_string(dtype), known));
    }
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

    void check(const std::string& device_name, const std::string& trace_name,
               const std::vector<sweep::Setting>& settings) {
        const sweep::SortedSettings sorted(settings);
        Mistakes mistakes;
        mistakes.attempt([&] { protocol(sorted.run); });
        mistakes.attempt([&] { last_trace(trace_name, sorted.workload); });
        // What a device does not do with a protocol or a trace is known of those that are sound.
        const bool sound = mistakes.empty();
        mistakes.attempt([&] {
            const LoadedDevice built = device(device_name, sound ? settings : sorted.device);
            if (sound) refuse_dtypes(last_trace(trace_name, sorted.workload), built, sorted.workload);
        });
        mistakes.throw_if_any();
    }

    /// `lacks` of the simulator: of a device and a trace that are sound.
    std::string lacks(const std::string& device_name, const std::string& trace_name,
                      const std::vector<sweep::Setting>& settings, const std::string& figure) {
        if (!figure.starts_with("usd_")) return "";
        const sweep::SortedSettings sorted(settings);
        const std::string price = missing_for_cost(device(device_name, sorted.device).cost, true);
        if (!price.empty()) return fmt::format("{}: {}", device_name, price);
        DeviceResult said;
        tell_trace(last_trace(trace_name, sorted.workload), said);
        const std::string missing = missing_for_figure(said, figure);
        return missing.empty() ? "" : fmt::format("{}: {}", trace_name, missing);
    }

    std::vector<Metric> run(const std::string& device_name, const std::string& trace_name,
                            const std::vector<sweep::Setting>& settings) {
        try {
            const Settings read_once = read(device_name, settings);
            const LoadedDevice built = build_device(device_document(device_name), read_once);
            const Graph graph = build_trace(trace_document(trace_name), read_once.workload);
            DeviceResult result = built.run(graph, {read_once.protocol, WantTimeline::No, false}).result;
            tell_trace(graph, result);
            built.tell_known_cost(result);
            return figures(result);
        } catch (const UserError& error) {
            throw of_keys(error);
        }
    }

private:
    static Settings read(const std::string& device, const std::vector<sweep::Setting>& settings) {
        std::vector<std::string> texts;
        for (const sweep::Setting& setting : settings) texts.push_back(setting.path + '=' + setting.value);
        return read_settings(texts, Protocol::of_run(), {device});
    }

    /// trace(), kept until another is asked for: most values that are tried are a device's.
    const Graph& last_trace(const std::string& reference, const std::vector<sweep::Setting>& settings) {
        std::string key = reference;
        for (const sweep::Setting& each : settings) key += '\n' + each.path + '=' + each.value;
        if (!last_ || last_->first != key) last_ = {key, trace(reference, settings)};
        return last_->second;
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
    std::optional<std::pair<std::string, Graph>> last_;
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
    simulator.program = version();
    simulator.metrics = figure_kinds();
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
    simulator.check = [sources](const std::string& device, const std::string& trace,
                                const std::vector<sweep::Setting>& settings) {
        sources->check(device, trace, settings);
    };
    simulator.lacks = [sources](const std::string& device, const std::string& trace,
                                const std::vector<sweep::Setting>& settings, const std::string& figure) {
        return sources->lacks(device, trace, settings, figure);
    };
    simulator.run = [sources](const std::string& device, const std::string& trace,
                              const std::vector<sweep::Setting>& settings) {
        return sources->run(device, trace, settings);
    };
    return simulator;
}

}  // namespace systole::app
