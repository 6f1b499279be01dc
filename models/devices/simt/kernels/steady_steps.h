// SPDX-License-Identifier: Apache-2.0
// What a step of a CTA takes far from its program's begin and end, seen on an SM that has run it.
#pragma once

#include <cstdint>

#include "models/devices/simt/kernels/cta_timing.h"
#include "models/devices/simt/sm/sm.h"

namespace systole::simt {

/// Steps of such a run: enough that its middle does not know its ends any more (tests/unit/simt).
constexpr std::int64_t kSteadySteps = 24, kSteadyWarmUp = 8;

/// Runs the CTAs that `sm` has, of kSteadySteps each, until all that is asked below is known: the first one
/// leaves its main loop, and nothing of the time before is still to be accounted for.
void run_steady(Sm& sm, int ctas);

/// A step of a CTA that has the SM for itself.
void take_alone(const Sm& sm, int sub_cores, CtaTiming& timing);
/// A step of each of the CTAs that an SM holds: the tensor cores' share at work tells how many were done, as
/// each keeps them as long as alone.
void take_full(const Sm& sm, int sub_cores, CtaTiming& timing);

}  // namespace systole::simt
