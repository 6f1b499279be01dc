// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/clock_control.h"

#include <algorithm>

#include "sim/base/check.h"

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
    kernel_ = {now, moved};
    own_ = spec_.core_clock;
    if (first_turn_) {
        follow_window(now, moved);
        expect(expected);
    } else {
        SYSTOLE_CHECK(in_turn_ < kernels_.size(), "a turn of more than the {} kernels of the one before",
                      kernels_.size());
        own_ = own_clock(kernels_[in_turn_]);
        clock_ = std::min(turn_clock_, own_);
    }
    clock_ = std::min(clock_, held_.at(now));
}

void ClockControl::follow_window(Ticks now, Bytes moved) {
    if (now - window_.at < spec_.power.window) return;
    const Done window = done(window_, now, moved);
    const double drawn = power_of(window.activity, spec_.power, window.clock, spec_.core_clock);
    note(drawn);
    if (spec_.power.burst) average_ = average_after(average_, drawn, window.seconds, spec_.power);
    clock_ = mean_clock(window.activity, spec_.power, window.clock, spec_.core_clock,
                        {average_, 0, seconds(spec_.power.window)});
    window_ = {now, moved};
}

void ClockControl::expect(const Expected& expected) {
    const double time = expected.cycles / per_second(spec_.core_clock);
    if (time <= 0 || time < seconds(spec_.power.window)) return;
    const double memory =
        static_cast<double>(expected.moved.value()) / time / static_cast<double>(spec_.memory.peak().value());
    const Activity activity{expected.work / expected.cycles, std::min(1.0, memory)};
    note(power_of(activity, spec_.power, spec_.core_clock, spec_.core_clock));
    own_ = mean_clock(activity, spec_.power, spec_.core_clock, spec_.core_clock, {average_, 0, time});
    clock_ = own_;
}

Hertz ClockControl::own_clock(const Done& kernel) const {
    if (kernel.seconds < seconds(spec_.power.window)) return spec_.core_clock;
    const auto at_once = spec_.power.burst ? spec_.power.burst : spec_.power.cap;
    return settled_clock(kernel.activity, spec_.power, at_once, kernel.clock, spec_.core_clock);
}

void ClockControl::note(double drawn) {
    if (spec_.power.cap && spec_.power.burst && drawn > static_cast<double>(spec_.power.cap->value()))
        at_ease_ = false;
}

void ClockControl::begin_turn(Ticks now, Bytes moved) {
    const Done turn = done(turn_, now, moved);
    turn_ = {now, moved};
    first_turn_ = false;
    in_turn_ = 0;
    if (turn.seconds <= 0) return;
    if (turns_.timed == 0) {
        turn_clock_ =
            settled_clock(turn.activity, spec_.power, spec_.power.cap, turn.clock, spec_.core_clock);
        return;
    }
    turn_clock_ = mean_clock(turn.activity, spec_.power, turn.clock, spec_.core_clock,
                             {static_cast<double>(spec_.power.idle.value()), turns_.before * turn.seconds,
                              (turns_.before + turns_.timed) * turn.seconds});
}

void ClockControl::end_kernel(Ticks now, Bytes moved, double work) {
    held_.hold(now, own_);
    for (Since* since : {&turn_, &window_, &kernel_}) {
        since->work += work;
        since->work_times_clock += work * per_second(clock_);
    }
    kernels_.resize(std::max(kernels_.size(), in_turn_ + 1));
    kernels_[in_turn_++] = done(kernel_, now, moved);
}

// Where the clock changed meanwhile, the work tells which counts how much.
ClockControl::Done ClockControl::done(const Since& since, Ticks now, Bytes moved) const {
    const double time = seconds(now - since.at);
    if (time <= 0) return {0, {}, clock_};
    const double memory = static_cast<double>((moved - since.moved).value()) / time /
                          static_cast<double>(spec_.memory.peak().value());
    const Hertz mean =
        since.work > 0 ? Hertz(static_cast<std::int64_t>(since.work_times_clock / since.work)) : clock_;
    const double tensor = since.work / per_second(spec_.core_clock) / time;
    return {time, {tensor, memory}, mean};
}

}  // namespace systole::simt
