// SPDX-License-Identifier: Apache-2.0
// How long a program takes, by estimate: units as in the machine, each with one command after the other, each
// command as long as its slowest resource alone would need, behind its tokens. No unit meets another in a
// bank or on a bus; cores share the memory evenly. For comparing programs of one network, not for results.
#pragma once

#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"

namespace systole::systolic {

/// Cycles of the core clock. `cores`: that are at work.
double estimated_cycles(const Program& program, const SystolicSpec& spec, int cores);

}  // namespace systole::systolic
