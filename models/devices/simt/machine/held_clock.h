// SPDX-License-Identifier: Apache-2.0
// The clock that kernels which the power cap holds leave to those behind them. It falls at once, but rises
// only when none of them has ended for a while. Plain C++ that takes `now`, which never goes back.
#pragma once

#include <deque>

#include "sim/base/units.h"

namespace systole::simt {

class HeldClock {
public:
    /// `highest`: of SMs that nothing holds; `rise`: after which the clock is that again.
    HeldClock(Hertz highest, Ticks rise) : highest_(highest), rise_(rise) {}

    /// A kernel ends that was held to `clock`.
    void hold(Ticks now, Hertz clock);
    /// The lowest that any kernel was held to which ended less than `rise` ago.
    Hertz at(Ticks now);

private:
    struct Held {
        Hertz clock;
        Ticks until;
    };
    Hertz highest_;
    Ticks rise_;
    std::deque<Held> held_;  // later ones have higher clocks: others would decide on nothing
};

}  // namespace systole::simt
