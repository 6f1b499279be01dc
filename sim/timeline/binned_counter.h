// SPDX-License-Identifier: Apache-2.0
// A quantity over time while nobody knows how long the run will be: a bounded number of bins, whose width
// doubles as time goes on. Amounts are whole and none is lost.
#pragma once

#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/timeline/timeline.h"

namespace systole {

/// What passes: bytes over a link.
class BinnedCounter {
public:
    static constexpr std::size_t kBins = 512;  ///< at most; after long, at least half as many

    /// `amount` came evenly within [begin, end), all at `begin` where both are one. begin >= 0.
    void add(Ticks begin, Ticks end, Int128 amount);
    Int128 total() const { return total_; }
    /// Moves what a bin has beyond `most` in a second to the bin before, from `end` back to the first, which
    /// keeps the rest: of amounts of which only the end was known.
    void spill_back(std::int64_t most, Ticks end);
    /// A sample where the rate changes, from 0 on: amounts per tick times `scale`. It is 0 at `end` and
    /// later.
    CounterTrack rate(const std::string& track, const std::string& name, const std::string& unit,
                      double scale, Ticks end) const;

private:
    std::size_t bin_of(Ticks time) const { return static_cast<std::size_t>(time / width_); }
    void widen(Ticks end);

    Ticks width_{1024};
    std::vector<Int128> bins_;
    Int128 total_ = 0;
};

/// Bytes a tick in GB/s.
constexpr double kGigabytesPerSecond = 1e3;

/// What is there: entries of a queue. Samples are means over bins.
class BinnedLevel {
public:
    /// From `now` on, not before the last time. At first it is 0.
    void set(Ticks now, std::int64_t level) {
        if (level == level_) return;
        keep(now);
        level_ = level;
    }
    void change(Ticks now, std::int64_t by) { set(now, level_ + by); }
    CounterTrack mean(const std::string& track, const std::string& name, const std::string& unit,
                      double scale, Ticks end) {
        keep(end);
        return integral_.rate(track, name, unit, scale, end);
    }

private:
    void keep(Ticks until) {
        if (until > since_ && level_ != 0)
            integral_.add(since_, until, Int128{level_} * (until - since_).value());
        since_ = until;
    }

    BinnedCounter integral_;
    std::int64_t level_ = 0;
    Ticks since_;
};

}  // namespace systole
