// SPDX-License-Identifier: Apache-2.0
// A sweep in words: its plan, its progress, what came of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "sim/base/text_style.h"
#include "sim/sweep/folder.h"
#include "sim/sweep/merge.h"
#include "sim/sweep/plan.h"

namespace systole::app {

/// "12,345".
std::string thousands(std::size_t value);

/// "planned 400 points; 'where' excludes 12 combinations; 3 combinations are the same point as another".
std::string plan_text(const sweep::Plan& plan);
/// "400 points, 4 chunks of 100".
std::string plan_text(std::size_t points, std::size_t chunks, std::size_t chunk_points);

/// How many points ended how, reasons, and the front as a table. Where the style has pictures, how the points
/// lie on each objective is one.
std::string summary_text(const sweep::Experiment& experiment, const sweep::MergedTable& table,
                         const TextStyle& style = {});

/// A line for each reason; at most ten.
std::string failures_text(const std::map<std::string, std::size_t>& failures);

struct SweepStatus {
    sweep::Tally tally;
    std::size_t chunk_points = 0;
};
SweepStatus status_of(const sweep::Folder& folder);
std::string to_text(const SweepStatus& status);
std::string to_json(const SweepStatus& status);

/// A line on the terminal: points, rate, time left. Forked processes must not share a thread, so it is drawn
/// as points end.
class SweepProgress {
public:
    explicit SweepProgress(std::size_t points);
    ~SweepProgress();
    SweepProgress(const SweepProgress&) = delete;
    SweepProgress& operator=(const SweepProgress&) = delete;
    void update(std::size_t ended, std::size_t failed);

private:
    using Clock = std::chrono::steady_clock;
    std::size_t points_;
    bool terminal_, shown_ = false;
    Clock::time_point begin_, last_;
};

}  // namespace systole::app
