// SPDX-License-Identifier: Apache-2.0
// The clock that a power cap leaves to the SMs. What tensor cores draw goes with the MACs that they do in a
// second, and with the square of the voltage, which goes with the clock (V. Kandiah et al., AccelWattch,
// MICRO 2021, assume so, too; a V100's goes from 0.71 V at 1.0 GHz to 1.09 V at 1.53 GHz, as remembered).
// What is drawn while idle and by the memory depends on neither.
#pragma once

#include <optional>

#include "models/devices/simt/spec/spec.h"
#include "sim/base/units.h"

namespace systole::simt {

/// What a chip did for a while.
struct Activity {
    double tensor = 0;  ///< MACs of what tensor cores could have done in that time at the core clock, 0..1
    double memory = 0;  ///< bytes of what the memory could have moved, 0..1
};

/// In milliwatts, of SMs that do so at `clock`.
double power_of(const Activity& activity, const PowerSpec& spec, Hertz clock, Hertz core_clock);

/// The SMs' clock after they did that at `clock`: such that doing it again draws `limit` (none: any amount),
/// and at most `core_clock`, at least a sixteenth of it.
Hertz settled_clock(const Activity& activity, const PowerSpec& spec, std::optional<Milliwatts> limit,
                    Hertz clock, Hertz core_clock);

/// Time in which a chip does the same, and what it drew on average before, in milliwatts and seconds.
struct Stretch {
    double average = 0;  ///< at time 0, since when it does that
    double from = 0, to = 0;
};

/// The SMs' mean clock in the stretch, of a chip whose power may burst until its average has come to the cap.
/// The average forgets by an exponential, as a filter of first order does.
Hertz mean_clock(const Activity& activity, const PowerSpec& spec, Hertz clock, Hertz core_clock,
                 const Stretch& stretch);

/// What is then the average, after `seconds` of `drawn` milliwatts.
double average_after(double average, double drawn, double seconds, const PowerSpec& spec);

}  // namespace systole::simt
