// SPDX-License-Identifier: Apache-2.0
#include "sim/app/report_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/account/output_files.h"
#include "sim/app/files.h"
#include "sim/app/library.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"
#include "sim/report/page.h"
#include "sim/report/result_reader.h"

namespace systole::app {

void add_report(boost::program_options::options_description& options) {
    add_option(options, "report", "FILE", "also write a report there: one HTML file, for a browser");
}

std::optional<ReportPlace> report_place(const Arguments& arguments,
                                        const std::optional<std::filesystem::path>& directory) {
    const std::optional<std::string> file = arguments.option("report");
    if (!file) return std::nullopt;
    if (is_in_new(directory, *file)) return ReportPlace{*file, Library::find().page("report")};
    return report_place(*file);
}

ReportPlace report_place(const std::filesystem::path& file) {
    require_writable_file(file);
    return {file, Library::find().page("report")};
}

std::string line_again(const Arguments& arguments, const std::vector<const DeviceResult*>& results) {
    const bool off = std::ranges::any_of(results, [](const DeviceResult* result) {
        return std::ranges::count(result->protocol, std::pair<std::string, std::string>("reuse", "off")) > 0;
    });
    std::string line = arguments.line_without(kWhereTo);
    if (!off) return line;
    constexpr std::string_view kKey = "run.reuse=";
    const std::size_t asked = line.find(kKey);
    if (asked == std::string::npos) return line + " --set run.reuse=off";
    const std::size_t value = asked + kKey.size();
    return line.replace(value, std::min(line.find_first_of(" '\"", value), line.size()) - value, "off");
}

report::Report report_of_results(const std::string& json, std::vector<Timeline> timelines,
                                 std::string command) {
    report::ReadResults results = report::read_results(json, "result.json", report::kMostLayers);
    for (std::size_t i = 0; i < timelines.size() && i < results.runs.size(); ++i)
        if (!timelines[i].spans.empty()) results.runs[i].timeline = std::move(timelines[i]);
    report::Report report{std::move(results.program), std::move(command), std::move(results.runs)};
    report.comparisons = std::move(results.comparisons);
    return report;
}

void write_report(const ReportPlace& place, const report::Report& report) {
    write_file(place.file,
               report::fill_page(place.page, report::title_of(report), report::report_json(report)));
    note(fmt::format("wrote {}; open it in a browser", place.file.string()));
}

}  // namespace systole::app
