// SPDX-License-Identifier: Apache-2.0
// A sweep that is open, and what is done with it on this machine.
#pragma once

#include <string>
#include <vector>

#include "sim/app/sweep_order.h"
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

/// Plans the order's experiment into its folder, or finds it planned there. Throws UserError.
Session plan_session(const SweepOrder& order);
/// What lies in the order's folder. Throws UserError if it is no sweep's, or another program's (unless
/// --any-build).
Session open_session(const SweepOrder& order);

/// Runs `points` and shows how far it is.
sweep::RunnerReport run_here(const Session& session, const std::vector<std::size_t>& points,
                             sweep::RunnerOptions options);
/// Writes the merged files and says what came of the sweep; answers the exit code.
int conclude(const Session& session);
/// Runs what has no result, and concludes; answers the exit code.
int run_and_conclude(const Session& session, const sweep::RunnerOptions& options);
/// Says that a sweep was interrupted, and how it goes on; answers the exit code.
int interrupted(const Session& session);

}  // namespace systole::app
