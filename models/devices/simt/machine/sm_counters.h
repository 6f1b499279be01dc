// SPDX-License-Identifier: Apache-2.0
// What SMs have and ask for, over time: counters of a timeline.
#pragma once

#include <string>
#include <vector>

#include "models/devices/simt/machine/tile_access.h"
#include "sim/timeline/binned_counter.h"

namespace systole::simt {

class SmCounters {
public:
    /// All bytes of an access have passed, evenly since it was sent.
    void answered(const TileAccess& tiles, bool write, Ticks sent, Ticks now);
    /// So many CTAs have places.
    void resident(Ticks now, std::int64_t ctas) { ctas_.set(now, ctas); }

    /// `sms`: of the chip. CTAs are those of one, on average.
    std::vector<CounterTrack> tracks(const std::string& track, std::int64_t sms, Ticks end) const;

private:
    BinnedLevel ctas_;
    BinnedCounter read_, written_;
};

}  // namespace systole::simt
