// SPDX-License-Identifier: Apache-2.0
// Which clock the SMs have while kernels follow each other under a power cap. Plain C++ that takes `now`.
//
// A network that is repeated stands for one that runs for long: each turn begins with the clock at which the
// one before would have drawn what it may. Before the first turn has ended, the clock follows what was drawn
// over the window; a kernel that is longer than it has its own clock from the beginning, as expected.
#pragma once

#include "models/devices/simt/machine/power_cap.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/base/units.h"

namespace systole::simt {

class ClockControl {
public:
    explicit ClockControl(const SimtSpec& spec) : spec_(spec), clock_(spec.core_clock) {}

    Hertz clock() const { return clock_; }

    /// What a kernel is expected to be.
    struct Expected {
        double cycles = 0;  ///< that it takes at the core clock
        double work = 0;    ///< of them, those in which tensor cores would be through with its MACs
        Bytes moved;        ///< to and from the memory
    };
    /// The first turn's next kernel is launched. `moved`: bytes to and from the memory since the start.
    void begin_kernel(Ticks now, Bytes moved, const Expected& expected);
    /// Another turn begins with its first kernel.
    void begin_turn(Ticks now, Bytes moved);
    /// A kernel has ended, with so much work (as in Expected).
    void add(double work);

private:
    /// What happened since.
    struct Since {
        Ticks at;
        Bytes moved;
        double work = 0, work_times_clock = 0;
    };
    void settle(const Since& since, Ticks now, Bytes moved);

    const SimtSpec& spec_;
    Hertz clock_;
    Since turn_, window_;
};

}  // namespace systole::simt
