// SPDX-License-Identifier: Apache-2.0
// A sweep that is open, and what is done with it on this machine.
#pragma once

#include <string>
#include <vector>

#include "sim/app/command.h"
#include "sim/sweep/experiment.h"
#include "sim/sweep/folder.h"
#include "sim/sweep/local_runner.h"
#include "sim/sweep/simulator.h"

namespace systole::app {

constexpr int kSomePointsFailed = 4;
constexpr int kInterrupted = 130;

struct Session {
    sweep::Folder folder;
    sweep::Experiment experiment;
    sweep::Simulator simulator;

    std::size_t chunks() const;
    /// Points of a chunk, or of all, that have no result.
    std::vector<std::size_t> open_points() const;
    std::vector<std::size_t> open_points(std::size_t chunk) const;
};

/// Plans `reference` into the folder of -o, or finds it planned there. Throws UserError.
Session plan_session(const Arguments& arguments, const std::string& reference);
/// What lies in a folder. Throws UserError if it is no sweep's, or another program's (unless --any-build).
Session open_session(const Arguments& arguments, const std::string& path);

/// Runs `points` and shows how far it is.
sweep::RunnerReport run_here(const Session& session, const std::vector<std::size_t>& points,
                             sweep::RunnerOptions options);
/// Writes the merged files and says what came of the sweep; answers the exit code.
int conclude(const Session& session);
/// Runs what has no result, and concludes; answers the exit code.
int run_and_conclude(const Session& session, const sweep::RunnerOptions& options);

}  // namespace systole::app
