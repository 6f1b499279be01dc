// SPDX-License-Identifier: Apache-2.0
// Whether an experiment's keys take the values that it gives them.
#pragma once

#include "sim/base/mistakes.h"
#include "sim/sweep/experiment.h"
#include "sim/sweep/point_identity.h"
#include "sim/sweep/point_maker.h"
#include "sim/sweep/simulator.h"

namespace systole::sweep {

/// Tries every value of every axis (of more than 256, 256) with others as a point has them, until the
/// simulator takes some combination: adds what is wrong with values that none takes. What only does not fit
/// a device is a mistake if it fits none of the experiment's. Values that `where` leaves out need not be
/// sound. Keys that no axis moves are tried along.
void check_values(const Experiment& experiment, const Simulator& simulator, PointIdentity& identity,
                  PointMaker& maker, Mistakes& mistakes);

}  // namespace systole::sweep
