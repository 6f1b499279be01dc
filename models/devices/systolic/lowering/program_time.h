// SPDX-License-Identifier: Apache-2.0
// How long a program takes, by estimate: units as in the machine, each with one command after the other, each
// command as long as its slowest resource alone would need, behind its tokens. No unit meets another in a
// bank or on a bus; cores share the memory evenly. For comparing programs of one network, not for results.
#pragma once

#include <vector>

#include "models/devices/systolic/program/program.h"
#include "models/devices/systolic/spec/spec.h"

namespace systole::systolic {

/// Share of the memory's peak that several engines get: refreshes take 6 to 7 % of HBM, and streams close
/// rows for each other and turn the bus. Assumed: products that memory bounds get 72 to 80 % in our own
/// model.
constexpr double kMemoryShare = 0.8;

/// By layer: cycles of the core clock until all of its commands are done. `cores`: that are at work.
std::vector<double> estimated_ends(const Program& program, const SystolicSpec& spec, int cores);

/// Until the last layer has ended.
double estimated_cycles(const Program& program, const SystolicSpec& spec, int cores);

}  // namespace systole::systolic
