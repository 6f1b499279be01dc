// SPDX-License-Identifier: Apache-2.0
// The report: runs, or a sweep, as the JSON that the page of tools/web/src/report draws (docs/formats.md).
#pragma once

#include <cstddef>
#include <string>

#include <vector>

#include "sim/report/run_data.h"

namespace systole::report {

/// Rows of a chart that people can look at, and that a browser draws in a second.
constexpr std::size_t kMostLayers = 1000;
/// Points of a sweep, likewise.
constexpr std::size_t kMostPoints = 5000;

/// The merged points of a sweep.
struct SweepData {
    struct Column {
        std::string name;
        bool is_number = false;  ///< every cell is one, or empty
    };
    std::string title;
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;
    struct Objective {
        std::string name;  ///< of a column
        bool more_is_better = false;
    };
    std::vector<Objective> objectives;
    std::string experiment;  ///< its file, as text; empty: not known
    std::string build;       ///< which build of the program planned it
    /// Points by what came of them.
    struct Tally {
        std::size_t points = 0, done = 0, refused = 0, failed = 0, missing = 0;
    };
    Tally tally = {};
};

struct Report {
    std::string program;  ///< "systole 0.1.0"
    std::string command;  ///< that makes the figures again; empty: unknown
    std::vector<RunData> runs;
    std::vector<SweepData> sweeps = {};            ///< at most one
    std::vector<std::string> notes = {};           ///< sentences that stand above all
    std::vector<ComparisonData> comparisons = {};  ///< of `runs`
};

/// "resnet50 on tpu_v4 and h100", or the sweep's title.
std::string title_of(const Report& report);

/// One line of JSON. Of a sweep with more than kMostPoints rows those of the front and an even choice of the
/// others; what is left out, here and in runs, is said in notes.
std::string report_json(const Report& report);

}  // namespace systole::report
