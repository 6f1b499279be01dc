// SPDX-License-Identifier: Apache-2.0
// What waits before the window of a pseudo-channel, in order of arrival: ranges of consecutive bursts, each
// of one request.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/memory/controller/fifo.h"
#include "sim/base/units.h"

namespace systole {

/// The last `left` bursts of a range; so that only that number changes when its first burst leaves, all
/// others are those of the burst behind its last.
struct WaitingRange {
    std::int64_t left = 0;
    std::int64_t end = 0;           ///< number in the pseudo-channel (address_map.h)
    std::int64_t end_sequence = 0;  ///< order of arrival at the channel
    std::int64_t end_rank = 0;      ///< order among those that want entries, while there are streams
    Cycles arrived;
    std::int32_t request = 0;

    std::int64_t first() const { return end - left; }
    std::int64_t sequence() const { return end_sequence - left; }
    std::int64_t rank() const { return end_rank - left; }
};

struct Door {
    Fifo<WaitingRange> ranges;
    std::int64_t bursts = 0;
    Cycles last = Cycles(-1);  ///< when something came or entered

    /// Where the burst behind so many others waits: the range, and how many of its bursts are before it.
    struct Place {
        std::size_t range = 0;
        std::int64_t before = 0;
    };
    Place place_of(std::int64_t number) const {
        Place place{0, number};
        while (place.before >= ranges[place.range].left) place.before -= ranges[place.range++].left;
        return place;
    }

    void push(const WaitingRange& range) {
        ranges.push(range);
        bursts += range.left;
    }
    /// So many bursts of the first range leave.
    void leave(std::int64_t count) {
        bursts -= count;
        if ((ranges.front().left -= count) == 0) ranges.pop();
    }
};

}  // namespace systole
