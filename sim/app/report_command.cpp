// SPDX-License-Identifier: Apache-2.0
// systole report: results, or a sweep, as a page for people.
#include <fmt/format.h>

#include <filesystem>

#include "sim/app/commands.h"
#include "sim/app/files.h"
#include "sim/app/report_files.h"
#include "sim/app/shared_options.h"
#include "sim/app/sweep_merged.h"
#include "sim/app/sweep_report.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/report/result_reader.h"

namespace systole::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestResult = std::size_t{2} << 30;  // bytes; a layer takes about 5,000

/// All runs of all files.
report::Report read_files(const std::vector<std::string>& files) {
    report::Report report;
    for (const std::string& file : files) {
        Progress progress(fmt::format("reading {}", file));
        report::ReadResults results =
            report::read_results(read_text(file, kLargestResult), file, report::kMostLayers);
        report.program = std::move(results.program);
        for (report::ComparisonData& comparison : results.comparisons) {
            comparison.first_run += report.runs.size();
            report.comparisons.push_back(std::move(comparison));
        }
        for (report::RunData& run : results.runs) report.runs.push_back(std::move(run));
    }
    return report;
}

int report(const Arguments& arguments) {
    arguments.at(0);
    const std::vector<std::string> sources = arguments.from(0);
    const std::optional<std::string> output = arguments.option("output");
    if (!output) arguments.misused("missing -o FILE; for example: systole report result.json -o report.html");
    std::error_code ignored;
    const bool is_sweep = fs::is_directory(sources[0], ignored);
    Places places{{{"-o", *output}}, {}, {}, sources};
    if (is_sweep) {
        places.directory = sources[0];
        places.results = sweep_files();
    }
    refuse_one_place(places);
    const ReportPlace place = report_place(*output);
    if (is_sweep) {
        if (sources.size() > 1) arguments.misused("a sweep's folder stands alone");
        write_report(place, sweep_report(sources[0]));
    } else {
        write_report(place, read_files(sources));
    }
    return 0;
}

}  // namespace

Command report_command() {
    Command command;
    command.name = "report";
    command.summary = "Draw results, or a sweep, as one HTML page.";
    command.arguments = {"RESULT|DIR"};
    command.more_arguments = "RESULT...";
    command.about =
        "RESULT is a result.json or comparison.json that -o wrote; DIR the folder of a sweep. The page needs "
        "no\n"
        "network and nothing beside it: charts of classes, rooflines, data movement, bandwidth and energy, "
        "each\n"
        "with its data, and how to get the figures again. 'run', 'compare' and 'sweep' write one with "
        "--report;\n"
        "that of a run has its timeline, too.\n";
    add_option(command.options, "output,o", "FILE", "the page");
    command.examples = {
        {"systole report out/resnet50-tpu_v4/result.json -o report.html", "what tools/quickstart wrote"},
        {"systole report a/result.json b/result.json -o both.html", "two runs side by side"},
        {"systole report out/array -o array.html", "a sweep: its Pareto front and all points"}};
    command.run = report;
    return command;
}

}  // namespace systole::app
