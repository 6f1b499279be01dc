// SPDX-License-Identifier: Apache-2.0
// The merged files of a sweep: written from results, and known to be those of what lies in the folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/app/sweep_session.h"
#include "sim/sweep/merge.h"

namespace systole::app {

/// Reads every result. Shows that it does, on a terminal.
sweep::MergedTable merge_results(const Session& session);

/// What came of a sweep: words, plain for they are kept in a file, and the exit code of whoever asked.
struct Conclusion {
    std::string summary;
    int code = 0;
};

/// Writes points.csv, points.sqlite, front.csv (of objectives) and summary.json. Throws UserError where it
/// cannot.
Conclusion write_merged(const Session& session, const sweep::MergedTable& table);

/// Names of files and directories in a sweep's folder that are its own.
std::vector<std::string> sweep_files();

/// What write_merged() answered of a table in which every point had its result. It is of what lies there as
/// long as none is missing, which the caller knows, and none was written since.
std::optional<Conclusion> still_merged(const Session& session);

}  // namespace systole::app
