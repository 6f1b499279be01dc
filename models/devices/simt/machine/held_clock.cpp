// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/held_clock.h"

namespace systole::simt {

void HeldClock::hold(Ticks now, Hertz clock) {
    if (clock >= highest_) return;
    while (!held_.empty() && held_.back().clock >= clock) held_.pop_back();
    held_.push_back({clock, now + rise_});
}

Hertz HeldClock::at(Ticks now) {
    while (!held_.empty() && held_.front().until <= now) held_.pop_front();
    return held_.empty() ? highest_ : held_.front().clock;
}

}  // namespace systole::simt
