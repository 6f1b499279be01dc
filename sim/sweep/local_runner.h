// SPDX-License-Identifier: Apache-2.0
// Runs points on this machine, each in a process of its own, some at once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/sweep/folder.h"
#include "sim/sweep/simulator.h"

namespace systole::sweep {

struct RunnerOptions {
    int jobs = 1;
    Ticks time;    ///< of one point, by the wall clock
    Bytes memory;  ///< of one point's data
    /// Asked several times a second; true: start no more, and end what runs.
    std::function<bool()> stop = [] { return false; };
    /// Told several times a second: how many have ended, and how many of these have no result.
    std::function<void(std::size_t ended, std::size_t failed)> progress = [](std::size_t, std::size_t) {};
};

struct RunnerReport {
    std::size_t ended = 0;                          ///< with a result or without
    std::size_t failed = 0;                         ///< of these, without
    std::map<std::string, std::size_t> failures;    ///< points without a result, by reason
    std::map<std::string, std::size_t> unrecorded;  ///< of these, those whose reason the folder does not hold
    bool stopped = false;
};

/// Runs `points` (numbers in the manifest). A point that fails is recorded in the folder with its reason, and
/// the others go on.
RunnerReport run_points(const Folder& folder, const Simulator& simulator,
                        const std::vector<std::size_t>& points, const RunnerOptions& options);

}  // namespace systole::sweep
