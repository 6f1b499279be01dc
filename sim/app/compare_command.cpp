// SPDX-License-Identifier: Apache-2.0
// systole compare: traces on several devices, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "sim/account/comparison.h"
#include "sim/account/output_files.h"
#include "sim/account/writers.h"
#include "sim/app/commands.h"
#include "sim/app/files.h"
#include "sim/app/import_choices.h"
#include "sim/app/load_device.h"
#include "sim/app/load_trace.h"
#include "sim/app/report_files.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"
#include "sim/app/timeline_option.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

/// A device of the comparison: what it is called, and what it is.
struct Contestant {
    std::string name, reference;
    LoadedDevice device;
};

/// "NAME=DEVICE", or a device that goes by its own name.
std::pair<std::string, std::string> name_and_reference(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) return {text.substr(0, equals), text.substr(equals + 1)};
    return {fs::path(text).extension() == ".yaml" ? fs::path(text).stem().string() : text, text};
}

std::vector<std::pair<std::string, std::string>> read_names(const Arguments& arguments) {
    std::vector<std::pair<std::string, std::string>> names;
    std::set<std::string> seen;
    for (const std::string& text : arguments.list("device")) {
        names.push_back(name_and_reference(text));
        const auto& [name, reference] = names.back();
        if (name.empty() || reference.empty() || name.find(':') != std::string::npos)
            throw UserError({"--device " + text}, "expected DEVICE, or NAME=DEVICE with a name without ':'");
        if (!seen.insert(name).second)
            throw UserError(
                {"--device " + text},
                fmt::format("'{}' is there twice; NAME={} gives it another name", name, reference));
    }
    if (names.size() < 2) arguments.misused("expected two devices or more: --device A --device B");
    return names;
}

/// What concerns the device that goes by `name`.
Settings settings_of(const Settings& all, const std::string& name) {
    Settings own = all;
    std::erase_if(own.device,
                  [&](const Setting& setting) { return !setting.device.empty() && setting.device != name; });
    for (Setting& setting : own.device) setting.device.clear();
    return own;
}

/// The same mistakes, and on which device they are some.
UserError on_device(const UserError& error, const std::string& name) {
    std::vector<Diagnostic> diagnostics = error.diagnostics();
    for (Diagnostic& diagnostic : diagnostics)
        diagnostic.message = fmt::format("on {}: {}", name, diagnostic.message);
    return UserError(std::move(diagnostics));
}

LoadedDevice load_contestant(const Library& library, const std::string& name, const std::string& reference,
                             const Settings& settings) {
    try {
        return load_device(library, reference, settings_of(settings, name));
    } catch (const UserError& error) {
        // A file says itself whose mistake it is, a setting may be wrong for one of several devices.
        if (!error.diagnostics().front().where.file.starts_with("--set")) throw;
        throw on_device(error, name);
    }
}

std::vector<Contestant> load_devices(const Library& library,
                                     const std::vector<std::pair<std::string, std::string>>& names,
                                     const Settings& settings) {
    std::vector<Contestant> contestants;
    for (const auto& [name, reference] : names)
        contestants.push_back({name, reference, load_contestant(library, name, reference, settings)});
    return contestants;
}

Comparison compare_on(const Graph& graph, const std::vector<Contestant>& contestants, RunOptions options,
                      bool skip_unable, bool with_cost, std::vector<Timeline>& timelines) {
    std::vector<DeviceResult> results;
    Joins joins;
    for (const Contestant& contestant : contestants) {
        WorkDone work_done;
        options.work_done = &work_done;
        const Progress progress(fmt::format("running {} on {}", graph.name, contestant.name), &work_done);
        try {
            RunOutcome outcome = contestant.device.run(graph, options);
            results.push_back(std::move(outcome.result));
            timelines.push_back(std::move(outcome.timeline));
            joins.insert(joins.end(), outcome.joins.begin(), outcome.joins.end());
        } catch (const UserError& error) {
            if (!skip_unable) throw on_device(error, contestant.name);
            note(fmt::format("left out: {}", on_device(error, contestant.name).what()));
            continue;
        }
        results.back().device = contestant.name;
        tell_trace(graph, results.back());
        if (with_cost) contestant.device.tell_cost(results.back());
    }
    if (results.empty()) throw UserError(fmt::format("no device runs {}", graph.name));
    return compare(std::move(results), joins);
}

/// Of several traces, first the times of all of them.
std::string summary(const std::vector<Comparison>& comparisons, const TextStyle& style) {
    TextTable table;
    table.column("trace", TextTable::Align::Left);
    table.column("fastest", TextTable::Align::Left);
    table.column("by", TextTable::Align::Right);
    for (const DeviceResult& device : comparisons.front().devices)
        table.column(device.device, TextTable::Align::Right);
    for (const Comparison& one : comparisons) {
        std::vector<std::string> cells{one.trace, one.devices[one.total.winner].device,
                                       fmt::format("{:.2f}x", one.total.factor)};
        for (const Ticks time : one.total.times) cells.push_back(format_time(time));
        table.row(cells);
        table.ink(3 + one.total.winner, kStrong);
    }
    return table.str(style) + '\n';
}

std::string text_of(const std::vector<Comparison>& comparisons, bool all, const TextStyle& style) {
    std::string text;
    const bool same = std::all_of(comparisons.begin(), comparisons.end(), [&](const Comparison& one) {
        return one.devices.size() == comparisons.front().devices.size();
    });
    if (comparisons.size() > 1 && same) text += summary(comparisons, style);
    for (const Comparison& one : comparisons)
        text += (&one == comparisons.data() ? "" : "\n") + to_text(one, all, style) +
                (one.devices.front().cost ? '\n' + cost_text(one.devices, style) : "");
    return text;
}

/// Each device's result with its timeline, in the order of both.
std::vector<TracedRun> traced(const std::vector<Comparison>& comparisons,
                              const std::vector<Timeline>& timelines) {
    std::vector<TracedRun> runs;
    for (const Comparison& one : comparisons)
        for (const DeviceResult& device : one.devices) runs.push_back({device, timelines[runs.size()]});
    return runs;
}

int run(const Arguments& arguments) {
    const std::string format = arguments.choice("format", {"text", "json", "csv"});
    if (format == "csv" && arguments.has("cost"))
        arguments.misused("--cost is told by --format text and json; the rows of csv are layers");
    const std::optional<fs::path> directory = arguments.option("output");
    if (directory) require_writable_directory(*directory);
    const TimelineFile timeline = read_timeline(arguments);
    if (timeline.path && !is_in_new(directory, *timeline.path)) require_writable_file(*timeline.path);
    const std::optional<ReportPlace> report = report_place(arguments, directory);
    Places places{{}, directory, {"comparison.json", "comparison.csv"}, arguments.from(0)};
    if (timeline.path) places.outputs.push_back({"--timeline", *timeline.path});
    if (report) places.outputs.push_back({"--report", report->file});
    arguments.at(0);
    const auto names = read_names(arguments);
    std::vector<std::string> device_names;
    for (const auto& [name, reference] : names) {
        device_names.push_back(name);
        places.inputs.push_back(reference);
    }
    refuse_one_place(places);
    const Settings settings = read_settings(arguments.list("set"), Protocol::of_run(), device_names);
    const Library library = Library::find();
    const std::vector<Contestant> contestants = load_devices(library, names, settings);
    const bool with_cost = arguments.has("cost");
    for (const Contestant& each : contestants)
        if (with_cost) each.device.expect_prices(each.name);
    std::vector<Graph> graphs;
    for (const std::string& trace : arguments.from(0))
        graphs.push_back(load_trace(library, trace, settings.workload, read_import_choices(arguments)));
    const RunOptions options{settings.protocol, timeline.wanted(report.has_value())};
    std::vector<Comparison> comparisons;
    std::vector<Timeline> timelines;  // of the devices of all comparisons
    for (const Graph& graph : graphs)
        comparisons.push_back(compare_on(graph, contestants, for_timeline(options, graph),
                                         arguments.has("skip-unable"), with_cost, timelines));
    const std::string json = to_json(comparisons), csv = to_csv(comparisons);
    print(format == "json"  ? json
          : format == "csv" ? csv
                            : text_of(comparisons, arguments.has("all"), answer_style()));
    if (directory) {
        write_files(*directory, {{"comparison.json", json}, {"comparison.csv", csv}});
        note(fmt::format("wrote comparison.json, comparison.csv to {}", directory->string()));
    }
    timeline.write(traced(comparisons, timelines));
    if (report) {
        std::vector<const DeviceResult*> results;
        for (const Comparison& one : comparisons)
            for (const DeviceResult& device : one.devices) results.push_back(&device);
        write_report(*report, report_of_results(json, std::move(timelines), line_again(arguments, results)));
    }
    return 0;
}

}  // namespace

Command compare_command() {
    Command command;
    command.name = "compare";
    command.summary = "Run traces on several devices and say who wins each layer, and why.";
    command.arguments = {"TRACE"};
    command.more_arguments = "TRACE...";
    command.about =
        "Inputs come from the host and outputs go back to it, as with 'systole run'. The reasons follow from "
        "the\n"
        "accounts: how much longer the second fastest spends on what. A device that cannot run a trace ends "
        "the\n"
        "command with exit code 2 and the reason, or is left out (--skip-unable).\n";
    command.options.add_options()(
        "device", po::value<std::vector<std::string>>()->composing()->value_name("[NAME=]DEVICE"),
        "a device, as for 'systole run'; repeat it; NAME tells variants of one apart");
    add_set(command.options);
    add_import_choices(command.options);
    add_cost(command.options);
    add_option(command.options, "format", "FORMAT", "of the standard output: text (default), json or csv");
    add_option(command.options, "output,o", "DIR", "also write comparison.json and comparison.csv there");
    add_timeline(command.options);
    add_report(command.options);
    command.options.add_options()(
        "all", "say a sentence for every layer, not for the ten of the largest differences");
    command.options.add_options()("skip-unable", "leave out devices that cannot run a trace, with a note");
    command.examples = {{"systole compare resnet50 --device tpu_v4 --device tpu_v5e",
                         "who is faster, layer by layer, and why"},
                        {"systole compare tpu_v1_mlp0 --device tpu_v4 --device h100 --set workload.batch=128",
                         "an accelerator and a GPU"},
                        {"systole compare resnet50 --device tpu_v4 --device big=tpu_v4 --set big:mxu.count=8",
                         "a chip and what it could be"},
                        {"systole compare bert_base --device tpu_v5e --device h100 --cost",
                         "and what each costs, with where its price is from"},
                        {"systole compare resnet50 bert_base --device tpu_v3 --device tpu_v4 --format csv",
                         "for spreadsheets"}};
    command.run = run;
    return command;
}

}  // namespace systole::app
