// SPDX-License-Identifier: Apache-2.0
// What the banks of a scratchpad have promised: for every bank and all time to come, the part of a cycle's
// accesses that is still free. A client takes what it needs for an interval ahead, evenly over what is free
// in it, and learns how long the interval must be. Kept as intervals of constant promises: the cost of a
// reservation grows with banks and with the reservations that it overlaps, not with cycles.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/scratchpad/bank_map.h"
#include "sim/base/units.h"

namespace systole {

class BankCalendar {
public:
    /// Promises are counted in these parts of an access, rounded up.
    static constexpr std::int64_t kParts = 1 << 12;
    /// Accesses of one bank that one client may take at a time: products then stay within 64 bits.
    static constexpr std::int64_t kMostAccesses = std::int64_t{1} << 33;
    static constexpr int kMostPorts = 16;

    /// Each bank serves `ports` (at most kMostPorts) accesses a cycle.
    BankCalendar(int banks, int ports);

    /// Takes load[b] accesses of every bank b within [begin, begin + length) and answers `length`: the least
    /// number of cycles, at least `least` >= 1, in which every bank still has that many free. A bank gives
    /// the same share, in 2^-16ths rounded up, of whatever is free there in each cycle of the interval. `now`
    /// never decreases, and begin >= now.
    Cycles take(Cycles now, Cycles begin, Cycles least, const BankLoad& load);

    /// Parts of an access of `bank` that are free in `cycle`, which is not before the last `now`.
    std::int64_t free(std::size_t bank, Cycles cycle) const { return segments_[at(cycle)].free[bank]; }
    /// Intervals kept at present.
    std::size_t intervals() const { return segments_.size(); }

private:
    static constexpr int kShareBits = 16;
    /// From `from` until the next segment begins, for ever in the last.
    struct Segment {
        Cycles from;
        std::vector<std::int32_t> free;  // by bank: parts a cycle
    };

    void forget(Cycles now);
    std::size_t at(Cycles cycle) const;
    void cut(Cycles cycle);
    void sum_rooms(Cycles begin, Cycles end);
    bool enough(const std::vector<std::int64_t>& lines) const;
    Cycles end_for(std::size_t bank, std::int64_t need, Cycles begin) const;

    std::vector<Segment> segments_;
    std::vector<std::vector<std::int32_t>> unused_;  // of forgotten segments, to be used again
    std::vector<std::int64_t> rooms_, shares_;       // by bank, of the reservation at work
};

}  // namespace systole
