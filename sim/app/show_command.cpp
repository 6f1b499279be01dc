// SPDX-License-Identifier: Apache-2.0
// systole show: a device or a memory value by value, or a trace layer by layer.
#include <fmt/format.h>

#include <utility>

#include "sim/app/commands.h"
#include "sim/app/describe.h"
#include "sim/app/import_choices.h"
#include "sim/app/load_device.h"
#include "sim/app/load_memory.h"
#include "sim/app/load_trace.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"

namespace systole::app {
namespace {

Values device_values(const Arguments& arguments, const std::string& name) {
    const Settings settings = read_settings(arguments.list("set"), Protocol::of_run(), {name});
    refuse_workload(settings, "a device has none");
    LoadedDevice device = load_device(Library::find(), name, settings);
    return {"device", device.name, device.title, device.about, std::move(device.entries)};
}

Values memory_values(const Arguments& arguments, const std::string& name) {
    LoadedMemory memory = load_memory(Library::find(), name, arguments.list("set"));
    return {"memory", memory.name, memory.title, memory.about, std::move(memory.entries)};
}

std::string show_trace(const Arguments& arguments, const std::string& name, bool json) {
    const Settings settings = read_settings(arguments.list("set"), Protocol::of_run(), {});
    if (!settings.device.empty())
        throw UserError(
            fmt::format("--set {}: a trace has only workload.* parameters", settings.device[0].path));
    const config::YamlNode document =
        load_trace_document(Library::find(), name, read_import_choices(arguments));
    const Graph graph = build_trace(document, settings.workload);
    return json ? trace_json(document, graph) : trace_text(document, graph);
}

int show(const Arguments& arguments) {
    const std::string& what = arguments.at(0);
    const bool json = arguments.choice("format", {"text", "json"}) == "json";
    const std::string& name = arguments.at(1);
    if (what == "trace") {
        print(show_trace(arguments, name, json));
    } else if (what == "device" || what == "memory") {
        refuse_import_choices(arguments, fmt::format("a {} is none", what));
        const Values values =
            what == "device" ? device_values(arguments, name) : memory_values(arguments, name);
        print(json ? values_json(values) : values_text(values));
    } else {
        arguments.misused(
            fmt::format("'{}' is not device, memory or trace{}", what,
                        did_you_mean(what, std::vector<std::string>{"device", "memory", "trace"})));
    }
    return 0;
}

}  // namespace

Command show_command() {
    Command command;
    command.name = "show";
    command.summary = "Show every value of a device or a memory and its origin, or every layer of a trace.";
    command.arguments = {"device|memory|trace", "NAME"};
    command.about =
        "A value is sourced (published), derived (from published values), assumed (with a plausible range),\n"
        "plain (a file without origin), from the command line, or a default.\n";
    add_set(command.options);
    add_import_choices(command.options);
    add_option(command.options, "format", "FORMAT", "text (default) or json");
    command.examples = {
        {"systole show device tpu_v4", "every key, its value, its meaning and where the value comes from"},
        {"systole show device tpu_v4 --set mxu.rows=256", "the same after a change"},
        {"systole show memory hbm2_tpu_v4", "what 'systole dram' and a device can change of it with --set"},
        {"systole show trace resnet50", "parameters, layers, shapes, MACs and weights"},
        {"systole show trace resnet50 --set workload.batch=8 --format json", "for programs"}};
    command.run = show;
    return command;
}

}  // namespace systole::app
