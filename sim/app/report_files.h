// SPDX-License-Identifier: Apache-2.0
// Reports as files: what commands have, put into the page.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/account/run_result.h"
#include "sim/app/command.h"
#include "sim/report/report.h"
#include "sim/timeline/timeline.h"

namespace systole::app {

/// --report FILE.
void add_report(boost::program_options::options_description& options);

/// Where a report goes, and the page without its data.
struct ReportPlace {
    std::filesystem::path file;
    std::string page;
};
/// What --report names, tried before a long run; it may lie in `directory`, which -o makes. Throws UserError.
std::optional<ReportPlace> report_place(const Arguments& arguments,
                                        const std::optional<std::filesystem::path>& directory);
ReportPlace report_place(const std::filesystem::path& file);

/// The command line that makes these results again: without places, with what a timeline did to the protocol.
std::string line_again(const Arguments& arguments, const std::vector<const DeviceResult*>& results);

/// Results that were just written as `json`, with their timelines in the order of its devices (those without
/// one are empty), and the command that made them.
report::Report report_of_results(const std::string& json, std::vector<Timeline> timelines,
                                 std::string command);

/// Writes the page, and says so. Throws UserError.
void write_report(const ReportPlace& place, const report::Report& report);

}  // namespace systole::app
