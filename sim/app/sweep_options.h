// SPDX-License-Identifier: Apache-2.0
// How a sweep's points run here: limits, jobs, and the signals that end it.
#pragma once

#include "sim/app/sweep_order.h"
#include "sim/sweep/experiment.h"
#include "sim/sweep/local_runner.h"

namespace systole::app {

/// As the order says, else the experiment; `jobs` where neither does. Ends when Ctrl-C asks for it.
sweep::RunnerOptions runner_options(const SweepOrder& order, const sweep::Experiment& experiment, int jobs);

/// The cores that this process may use.
int own_cores();

/// While it lives, Ctrl-C and a polite kill ask runners to stop.
class Interruptible {
public:
    Interruptible();
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;
};

}  // namespace systole::app
