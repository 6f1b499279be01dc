// SPDX-License-Identifier: Apache-2.0
// A format of waveforms: receives the signals once, then times in ascending order with what changed at each.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/clock.h"
#include "sim/timeline/wave_signal.h"

namespace systole {

/// Cycles `first` to `end` (exclusive) of `clock`.
struct WaveWindow {
    ClockDomain clock;
    Cycles first, end;

    Ticks begin_time() const { return clock.edge(first); }
    Ticks end_time() const { return clock.edge(end); }
    std::int64_t cycles() const { return (end - first).value(); }
};

class WaveWriter {
public:
    virtual ~WaveWriter() = default;
    /// The signals, by number. Throws UserError where the format cannot hold them.
    virtual void begin(const std::vector<WaveSignal>& signals, const WaveWindow& window) = 0;
    /// What follows changes at `at`, later than all before. The first time is the window's begin, and every
    /// signal gets a value there.
    virtual void time(Ticks at) = 0;
    virtual void change(std::size_t signal, std::int64_t value) = 0;
    /// The window is over at `at`.
    virtual void end(Ticks at) = 0;
};

}  // namespace systole
