// SPDX-License-Identifier: Apache-2.0
// A stream as the controller plans it: consecutive bursts whose columns follow each other in order at an even
// cadence, and the rows that they need on the way. Positions count its bursts from 0. A page is one row of
// each bank over which consecutive bursts rotate; the part of one bank is a run, every `stride`-th burst of
// the page.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/memory/address_map.h"
#include "models/memory/window.h"
#include "sim/base/units.h"

namespace systole {

struct Stream {
    struct Run {
        int bank = 0;
        std::int64_t row = 0, first = 0, last = 0;  ///< positions
    };
    /// A run whose row must be opened; `since` is the clock from which the scheduler knows.
    struct Job {
        Run run;
        std::int64_t sequence = 0;
        Cycles since;
    };
    /// The last run of a bank; none if `first` is negative.
    struct Lane {
        std::int64_t first = -1, last = -1;
        bool issued = false;  ///< its last column is known to the bank timing
    };

    explicit Stream(int banks) : lanes(static_cast<std::size_t>(banks)) {}

    Cycles clock(std::int64_t position) const { return begin + cadence * position; }
    /// Columns that are given before a clock.
    std::int64_t columns_before(Cycles clock) const {
        return clock <= begin ? 0 : ceil_div((clock - begin).value(), cadence.value());
    }
    /// The scheduler sees a burst from this clock on: an entry freed at one clock is filled at the next.
    Cycles entry(std::int64_t position) const {
        return position < visible ? seen_since : clock(position - visible) + Cycles(1);
    }

    /// Sets out at the run of the first burst.
    void start(const AddressMap& map, std::int64_t bursts_per_row);
    bool has_run() const { return run.first < bursts; }
    void next_run(const AddressMap& map);

    Direction direction = Direction::Read;
    std::int64_t local = 0, bursts = 0;  ///< the first burst's number in its pseudo-channel; how many
    std::int64_t visible = 0;            ///< of them in the window when it begins
    Cycles begin, cadence, limit;
    Cycles seen_since;  ///< the clock at which the planning begins

    Run run;  ///< the next that is not yet a job or open
    std::vector<Job> jobs;
    std::vector<Lane> lanes;            ///< by bank
    std::vector<Window::Burst> window;  ///< what was in the window when it began
    std::int64_t told = 0;              ///< columns that a listener knows of
    std::size_t range = 0;              ///< at the door, and the position at which it begins
    std::int64_t range_begin = 0;

private:
    void place_run(const AddressMap& map);

    std::int64_t stride_ = 1, page_ = 1;  // bursts
    std::int64_t at_ = 0;                 // local number of the run's first burst in its page
};

}  // namespace systole
