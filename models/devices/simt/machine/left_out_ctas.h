// SPDX-License-Identifier: Apache-2.0
// What CTAs that were not simulated add to the result of a kernel: the time, classes, bytes and counts of
// those that stand for them, over and over again.
#pragma once

#include <vector>

#include "models/devices/simt/machine/cta_sample.h"
#include "models/devices/simt/machine/sm_array.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/account/repeated_turn.h"
#include "sim/account/run_result.h"

namespace systole::simt {

/// What is known of them without a simulation.
struct LeftOutWork {
    Macs macs;
    std::vector<OperationCount> operations;
};

/// `run`: of a plan of one layer, whose `kernel` left them out; held to all invariants with them, too.
void add_left_out(CheckedResult& run, const CtaSample::LeftOut& left_out, const LeftOutWork& work,
                  const SmArray::Record& kernel, const SimtSpec& spec, DType dtype);

}  // namespace systole::simt
