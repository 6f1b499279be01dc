// SPDX-License-Identifier: Apache-2.0
// Numbers among the options of `systole sweep`, and what they say of how points run.
#pragma once

#include <cstdint>

#include "sim/app/command.h"
#include "sim/sweep/experiment.h"
#include "sim/sweep/local_runner.h"

namespace systole::app {

/// A whole number from 1 to `most`. Throws UserError.
std::int64_t whole_option(const Arguments& arguments, const char* name, std::int64_t most,
                          std::int64_t fallback);

/// --jobs (without: `jobs`), --time-limit and --memory-limit, over what the experiment says; ends when Ctrl-C
/// asks for it. Throws UserError.
sweep::RunnerOptions runner_options(const Arguments& arguments, const sweep::Experiment& experiment,
                                    std::int64_t jobs);

/// The cores that this process may use.
std::int64_t own_cores();

/// While it lives, Ctrl-C and a polite kill ask runners to stop.
class Interruptible {
public:
    Interruptible();
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;
};

}  // namespace systole::app
