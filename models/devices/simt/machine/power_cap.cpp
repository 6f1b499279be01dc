// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/power_cap.h"

#include <algorithm>

namespace systole::simt {
namespace {

constexpr std::int64_t kLowest = 16;  // part of the core clock, below which no cap is kept

double watts_of(Milliwatts power) {
    return static_cast<double>(power.value());
}

}  // namespace

double power_of(const Activity& activity, const PowerSpec& spec) {
    return watts_of(spec.idle) + activity.tensor * watts_of(spec.tensor) +
           activity.memory * watts_of(spec.memory);
}

Hertz settled_clock(const Activity& activity, const PowerSpec& spec, Hertz clock, Hertz core_clock) {
    if (!spec.cap) return core_clock;
    const double tensor = activity.tensor * watts_of(spec.tensor);
    const double left = watts_of(*spec.cap) - (power_of(activity, spec) - tensor);
    const auto highest = static_cast<double>(core_clock.value());
    const double wanted = static_cast<double>(clock.value()) * left;  // times `tensor`
    if (wanted >= highest * tensor) return core_clock;
    return std::max(Hertz(core_clock.value() / kLowest), Hertz(static_cast<std::int64_t>(wanted / tensor)));
}

}  // namespace systole::simt
