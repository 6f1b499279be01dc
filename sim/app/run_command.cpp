// SPDX-License-Identifier: Apache-2.0
// systole run: a trace, or a device program, on a device.
#include <fmt/format.h>
#include <fmt/ranges.h>

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

namespace systole::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kProgramLimit = std::size_t{4} << 30;  // bytes; a line of a program is about 100

/// Where the answers go.
struct Destinations {
    std::string format;
    std::optional<fs::path> directory;
    TimelineFile timeline;
    std::optional<ReportPlace> report;
};

/// Reads the options and finds out before the simulation whether the places can be written.
Destinations read_destinations(const Arguments& arguments) {
    Destinations to;
    to.format = arguments.choice("format", {"text", "json", "csv"});
    to.directory = arguments.option("output");
    to.timeline = read_timeline(arguments);
    if (to.format == "csv" && arguments.has("cost"))
        arguments.misused("--cost is told by --format text and json; the rows of csv are layers");
    if (to.directory) require_writable_directory(*to.directory);
    const auto& timeline = to.timeline.path;
    if (timeline && !is_in_new(to.directory, *timeline)) require_writable_file(*timeline);
    to.report = report_place(arguments, to.directory);
    return to;
}

/// `trace` is the name of the trace that the program must be of; empty: any.
RunOutcome run_program(const LoadedDevice& device, const std::string& file, const std::string& trace,
                       RunOptions options) {
    WorkDone work_done;
    options.work_done = &work_done;
    const Progress progress(fmt::format("running {} on {}", file, device.name), &work_done);
    RunOutcome outcome = device.run_program(read_text(file, kProgramLimit), file, options);
    const std::string& own = outcome.result.trace;
    if (!trace.empty() && own != trace)
        throw UserError(fmt::format("{} is a program of the trace '{}', not of '{}'", file, own, trace));
    return outcome;
}

/// The outcome, with its cost if that was asked for.
RunOutcome priced(RunOutcome outcome, const LoadedDevice& device, const Arguments& arguments) {
    if (arguments.has("cost")) device.tell_cost(outcome.result);
    return outcome;
}

/// The answer for people: of a run with a cost, that comes last.
std::string in_words(const DeviceResult& result) {
    const TextStyle style = answer_style();
    return to_text(result, style) + (result.cost ? '\n' + cost_text({result}, style) : "");
}

RunOutcome simulate(const Arguments& arguments, WantTimeline timeline) {
    const std::string& reference = arguments.at(0);
    const auto program = arguments.option("program");
    const std::string trace = program && arguments.count() < 2 ? "" : arguments.at(1);
    const Settings settings = read_settings(arguments.list("set"), Protocol::of_run(), {reference});
    RunOptions options{settings.protocol, timeline, arguments.has("check-dram"),
                       read_mapping_file(arguments)};
    if (program) refuse_workload(settings, "a device program has none");
    if (program && trace.empty()) refuse_import_choices(arguments, "--program without a TRACE has none");
    if (program && options.mapping)
        arguments.misused("--mapping and --program exclude each other: a program is mapped");
    const Library library = Library::find();
    const LoadedDevice device = load_device(library, reference, settings);
    if (arguments.has("cost")) device.expect_prices(device.name);
    if (program && trace.empty())
        return priced(run_program(device, *program, "", options), device, arguments);
    const Graph graph = load_trace(library, trace, settings.workload, read_import_choices(arguments));
    if (program) {
        RunOutcome outcome = run_program(device, *program, graph.name, options);
        tell_trace(graph, outcome.result);
        return priced(std::move(outcome), device, arguments);
    }
    WorkDone work_done;
    options.work_done = &work_done;
    const Progress progress(fmt::format("running {} on {}", graph.name, device.name), &work_done);
    RunOutcome outcome = device.run(graph, for_timeline(options, graph));
    tell_trace(graph, outcome.result);
    return priced(std::move(outcome), device, arguments);
}

/// A timeline or a report that would overwrite one of the result files, each other, or what is read.
void refuse_collision(const Arguments& arguments, const Destinations& to) {
    Places places{
        {}, to.directory, {"result.json", "layers.csv", "effective.yaml", "mapping.yaml"}, arguments.from(0)};
    if (to.timeline.path) places.outputs.push_back({"--timeline", *to.timeline.path});
    if (to.report) places.outputs.push_back({"--report", to.report->file});
    for (const char* const option : {"mapping", "program"})
        if (const auto file = arguments.option(option)) places.inputs.push_back(*file);
    refuse_one_place(places);
}

int run(const Arguments& arguments) {
    const Destinations to = read_destinations(arguments);
    refuse_collision(arguments, to);
    RunOutcome outcome = simulate(arguments, to.timeline.wanted(to.report.has_value()));
    const DeviceResult& result = outcome.result;
    const std::string json = to_json({result});
    const std::string csv = to_csv(result);
    print(to.format == "json" ? json : to.format == "csv" ? csv : in_words(result));
    if (to.directory) {
        std::vector<OutputFile> files{
            {"result.json", json}, {"layers.csv", csv}, {"effective.yaml", result.effective_config}};
        if (!outcome.mapping.empty()) files.push_back({"mapping.yaml", outcome.mapping});  // no program's
        std::vector<std::string> names;
        for (const auto& [name, text] : files) names.push_back(name);
        write_files(*to.directory, files);
        note(fmt::format("wrote {} to {}", fmt::join(names, ", "), to.directory->string()));
    }
    to.timeline.write({{result, outcome.timeline}});
    if (to.report)
        write_report(*to.report, report_of_results(json, {std::move(outcome.timeline)},
                                                   line_again(arguments, {&result})));
    return 0;
}

}  // namespace

Command run_command() {
    Command command;
    command.name = "run";
    command.summary = "Simulate a network on a device and account for every cycle.";
    command.arguments = {"DEVICE", "TRACE"};
    command.about =
        "DEVICE and TRACE are names ('systole list') or YAML files; a TRACE may be one of others, too\n"
        "('systole help import'). Exit code 0: done; 2: the input is wrong, and nothing was written.\n";
    add_set(command.options);
    add_import_choices(command.options);
    add_option(command.options, "format", "FORMAT", "of the standard output: text (default), json or csv");
    add_option(command.options, "output,o", "DIR",
               "also write result.json, layers.csv, effective.yaml and mapping.yaml there");
    add_mapping(command.options);
    add_timeline(command.options);
    add_report(command.options);
    add_option(command.options, "program", "FILE",
               "run this device program ('systole lower'); TRACE is then not needed");
    add_check_dram(command.options);
    add_cost(command.options);
    command.examples = {
        {"systole run tpu_v4 resnet50", "one inference, layer by layer, and what bounds each layer"},
        {"systole run tpu_v4 resnet50 --set workload.batch=8 --set mxu.count=2 --cost",
         "another batch, another machine, and USD for 1,000 images"},
        {"systole run tpu_v4 resnet50 -o results --timeline trace.json",
         "files for programs, spreadsheets, Perfetto"},
        {"systole run tpu_v4 resnet50 --mapping results/mapping.yaml",
         "cut as a file says: one that -o wrote, edited"},
        {"systole run my_tpu.yaml my_net.yaml --format json", "your own machine and network"}};
    command.run = run;
    return command;
}

}  // namespace systole::app
