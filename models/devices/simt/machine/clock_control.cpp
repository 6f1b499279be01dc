// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/clock_control.h"

#include <algorithm>

namespace systole::simt {
namespace {

double seconds(Ticks time) {
    return static_cast<double>(time.value()) / static_cast<double>(kTicksPerSecond);
}

double per_second(Hertz clock) {
    return static_cast<double>(clock.value());
}

}  // namespace

void ClockControl::begin_kernel(Ticks now, Bytes moved, const Expected& expected) {
    if (now - window_.at >= spec_.power.window) {
        settle(window_, now, moved);
        window_ = {now, moved};
    }
    const double time = expected.cycles / per_second(spec_.core_clock);
    if (time <= 0 || time < seconds(spec_.power.window)) return;
    const double memory =
        static_cast<double>(expected.moved.value()) / time / static_cast<double>(spec_.memory.peak().value());
    clock_ = settled_clock({expected.work / expected.cycles, std::min(1.0, memory)}, spec_.power,
                           spec_.core_clock, spec_.core_clock);
}

void ClockControl::begin_turn(Ticks now, Bytes moved) {
    settle(turn_, now, moved);
    turn_ = {now, moved};
}

void ClockControl::add(double work) {
    for (Since* since : {&turn_, &window_}) {
        since->work += work;
        since->work_times_clock += work * per_second(clock_);
    }
}

// Where the clock changed meanwhile, the work tells which counts how much.
void ClockControl::settle(const Since& since, Ticks now, Bytes moved) {
    const double time = seconds(now - since.at);
    if (time <= 0) return;
    const double memory = static_cast<double>((moved - since.moved).value()) / time /
                          static_cast<double>(spec_.memory.peak().value());
    const Hertz mean =
        since.work > 0 ? Hertz(static_cast<std::int64_t>(since.work_times_clock / since.work)) : clock_;
    const double tensor = since.work / per_second(spec_.core_clock) / time;
    clock_ = settled_clock({tensor, memory}, spec_.power, mean, spec_.core_clock);
}

}  // namespace systole::simt
