// SPDX-License-Identifier: Apache-2.0
// From an experiment to its points: every mistake that can be known before anything runs is found here.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/sweep/experiment.h"
#include "sim/sweep/manifest.h"
#include "sim/sweep/simulator.h"

namespace systole::sweep {

struct Plan {
    Manifest manifest;
    std::uint64_t excluded = 0;  ///< combinations that `where` refuses
    std::uint64_t equal = 0;     ///< combinations that are a point that is there already
};

struct PlanOptions {
    bool many = false;  ///< more than kManyCombinations are meant
    /// Told now and then how many combinations were looked at.
    std::function<void(std::uint64_t)> progress;
};

constexpr std::uint64_t kManyCombinations = 1'000'000;
constexpr std::uint64_t kMostCombinations = 100'000'000;

/// Throws UserError, at its place in the experiment, for paths that are no key, values that do not fit
/// (value_check.h) or names of formulas and objectives that nobody knows, all of these at once; for
/// constraints that exclude everything, and more than kManyCombinations unless that is meant.
Plan make_plan(const Experiment& experiment, const Simulator& simulator, const PlanOptions& options);

}  // namespace systole::sweep
