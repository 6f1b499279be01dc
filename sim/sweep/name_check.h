// SPDX-License-Identifier: Apache-2.0
// Whether an experiment's formulas use names that somebody knows.
#pragma once

#include <set>

#include "sim/base/mistakes.h"
#include "sim/sweep/experiment.h"
#include "sim/sweep/point_identity.h"

namespace systole::sweep {

/// Adds every name of `derive` and `where` that is nothing for one of the formula's devices with one of the
/// traces. Returns the formulas that have one, and those that need what these derive.
std::set<const Formula*> check_names(const Experiment& experiment, PointIdentity& identity,
                                     Mistakes& mistakes);

}  // namespace systole::sweep
