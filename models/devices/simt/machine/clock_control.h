// SPDX-License-Identifier: Apache-2.0
// Which clock the SMs have while kernels follow each other under a power cap. Plain C++ that takes `now`.
//
// A network that is repeated stands for one that runs for long, or for as many turns as were timed: each turn
// has the clock at which the one before would have drawn what it may, in the mean of those turns. Before the
// first turn has ended, the clock follows what was drawn over the window. A kernel that is longer than the
// window is held to what the chip may draw at once by itself, whatever the others of its turn leave: as it is
// expected to draw in the first turn, as it drew in the turn before in others. Those behind it keep that
// clock until it has had time to rise (HeldClock).
#pragma once

#include <cstddef>
#include <vector>

#include "models/devices/simt/kernels/kernel_plan.h"
#include "models/devices/simt/machine/held_clock.h"
#include "models/devices/simt/machine/power_cap.h"
#include "models/devices/simt/spec/spec.h"
#include "sim/base/units.h"

namespace systole::simt {

class ClockControl {
public:
    /// `turns`: of a network that is repeated, how often.
    ClockControl(const SimtSpec& spec, Turns turns)
        : spec_(spec),
          turns_(turns),
          clock_(spec.core_clock),
          turn_clock_(spec.core_clock),
          own_(spec.core_clock),
          held_(spec.core_clock, spec.power.rise),
          average_(static_cast<double>(spec.power.idle.value())) {}

    Hertz clock() const { return clock_; }
    /// Going on like this, the clock does as it did: it goes by the last window and by kernels that ended not
    /// long ago. Where more may be drawn in a burst, it goes by how long that has lasted: there no window so
    /// far drew more than the chip may for long.
    bool at_ease() const { return at_ease_; }

    /// What a kernel is expected to be.
    struct Expected {
        double cycles = 0;  ///< that it takes at the core clock
        double work = 0;    ///< of them, those in which tensor cores would be through with its MACs
        Bytes moved;        ///< to and from the memory
    };
    /// Another turn begins, of the same kernels as the one before. `moved`: bytes to and from the memory
    /// since the start.
    void begin_turn(Ticks now, Bytes moved);
    /// A turn's next kernel is launched.
    void begin_kernel(Ticks now, Bytes moved, const Expected& expected);
    /// It has ended, with so much work (as in Expected).
    void end_kernel(Ticks now, Bytes moved, double work);

private:
    /// What happened since.
    struct Since {
        Ticks at;
        Bytes moved;
        double work = 0, work_times_clock = 0;
    };
    struct Done {
        double seconds = 0;
        Activity activity;
        Hertz clock;  ///< in the mean
    };
    void follow_window(Ticks now, Bytes moved);
    void expect(const Expected& expected);
    /// What a kernel is held to that does what it did.
    Hertz own_clock(const Done& kernel) const;
    /// Milliwatts, on average of a while.
    void note(double drawn);
    Done done(const Since& since, Ticks now, Bytes moved) const;

    const SimtSpec& spec_;
    const Turns turns_;
    Hertz clock_;
    Hertz turn_clock_;  // that the mean of a turn leaves, from the second one on
    Hertz own_;         // that this kernel is held to by itself
    HeldClock held_;
    bool at_ease_ = true;
    double average_;  // of what was drawn until the window began, in milliwatts
    Since turn_, window_, kernel_;
    bool first_turn_ = true;
    std::size_t in_turn_ = 0;    // kernels of this turn that have ended
    std::vector<Done> kernels_;  // of the turn before, and of this one as far as they have ended
};

}  // namespace systole::simt
