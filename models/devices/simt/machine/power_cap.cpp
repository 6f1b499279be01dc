// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/power_cap.h"

#include <algorithm>
#include <cmath>

namespace systole::simt {
namespace {

constexpr std::int64_t kLowest = 16;  // part of the core clock, below which no cap is kept

double milliwatts_of(Milliwatts power) {
    return static_cast<double>(power.value());
}

double seconds_of(Ticks time) {
    return static_cast<double>(time.value()) / static_cast<double>(kTicksPerSecond);
}

}  // namespace

double power_of(const Activity& activity, const PowerSpec& spec, Hertz clock, Hertz core_clock) {
    const double voltage = static_cast<double>(clock.value()) / static_cast<double>(core_clock.value());
    return milliwatts_of(spec.idle) + activity.tensor * voltage * voltage * milliwatts_of(spec.tensor) +
           activity.memory * milliwatts_of(spec.memory);
}

// Tensor cores draw what goes with MACs a second and the square of the voltage: at the same work per cycle,
// with the cube of the clock.
Hertz settled_clock(const Activity& activity, const PowerSpec& spec, std::optional<Milliwatts> limit,
                    Hertz clock, Hertz core_clock) {
    if (!limit) return core_clock;
    const auto highest = static_cast<double>(core_clock.value());
    const double at_highest =
        activity.tensor * highest / static_cast<double>(clock.value()) * milliwatts_of(spec.tensor);
    const double others = power_of({0, activity.memory}, spec, clock, core_clock);
    const double left = std::max(0.0, milliwatts_of(*limit) - others);
    if (left >= at_highest) return core_clock;
    const double settled = highest * std::cbrt(left / at_highest);
    return std::max(Hertz(core_clock.value() / kLowest), Hertz(std::llround(settled)));
}

Hertz mean_clock(const Activity& activity, const PowerSpec& spec, Hertz clock, Hertz core_clock,
                 const Stretch& stretch) {
    const Hertz lasting = settled_clock(activity, spec, spec.cap, clock, core_clock);
    if (!spec.cap || !spec.burst) return lasting;
    const Hertz burst = settled_clock(activity, spec, spec.burst, clock, core_clock);
    const double faster = static_cast<double>(burst.value()) / static_cast<double>(clock.value());
    const double drawn = power_of({activity.tensor * faster, activity.memory}, spec, burst, core_clock);
    const double cap = milliwatts_of(*spec.cap);
    if (drawn <= cap) return burst;
    const double burst_ends =
        stretch.average >= cap
            ? 0
            : seconds_of(spec.average) * std::log((drawn - stretch.average) / (drawn - cap));
    const double left =
        std::clamp((burst_ends - stretch.from) / (stretch.to - stretch.from), 0.0, 1.0);  // of the stretch
    return Hertz(std::llround(left * static_cast<double>(burst.value()) +
                              (1 - left) * static_cast<double>(lasting.value())));
}

double average_after(double average, double drawn, double seconds, const PowerSpec& spec) {
    return drawn + (average - drawn) * std::exp(-seconds / seconds_of(spec.average));
}

}  // namespace systole::simt
