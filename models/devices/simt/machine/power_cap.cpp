// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/power_cap.h"

#include <algorithm>
#include <cmath>

namespace systole::simt {
namespace {

constexpr std::int64_t kLowest = 16;  // part of the core clock, below which no cap is kept

double watts_of(Milliwatts power) {
    return static_cast<double>(power.value());
}

}  // namespace

double power_of(const Activity& activity, const PowerSpec& spec, Hertz clock, Hertz core_clock) {
    const double voltage = static_cast<double>(clock.value()) / static_cast<double>(core_clock.value());
    return watts_of(spec.idle) + activity.tensor * voltage * voltage * watts_of(spec.tensor) +
           activity.memory * watts_of(spec.memory);
}

// Tensor cores draw what goes with MACs a second and the square of the voltage: at the same work per cycle,
// with the cube of the clock.
Hertz settled_clock(const Activity& activity, const PowerSpec& spec, Hertz clock, Hertz core_clock) {
    if (!spec.cap) return core_clock;
    const auto highest = static_cast<double>(core_clock.value());
    const double at_highest =
        activity.tensor * highest / static_cast<double>(clock.value()) * watts_of(spec.tensor);
    const double others = power_of({0, activity.memory}, spec, clock, core_clock);
    const double left = std::max(0.0, watts_of(*spec.cap) - others);
    if (left >= at_highest) return core_clock;
    const double settled = highest * std::cbrt(left / at_highest);
    return std::max(Hertz(core_clock.value() / kLowest), Hertz(std::llround(settled)));
}

}  // namespace systole::simt
