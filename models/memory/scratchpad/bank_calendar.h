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
    std::int64_t free(std::size_t bank, Cycles cycle) const {
        return free_of(segments_[at(head_, cycle)])[bank];
    }
    /// Intervals kept at present.
    std::size_t intervals() const { return segments_.size() - head_; }
    /// And those that have passed, whose places are not given back yet.
    std::size_t places() const { return segments_.size(); }

private:
    static constexpr int kShareBits = 16;
    /// From `from` until the next segment begins, for ever in the last.
    struct Segment {
        Cycles from;
        std::size_t row;  ///< of parts_
    };
    /// Banks that a reservation concerns: [begin, end).
    struct Span {
        std::size_t begin, end;
    };

    std::int32_t* free_of(const Segment& segment) { return parts_.data() + segment.row * banks_; }
    const std::int32_t* free_of(const Segment& segment) const { return parts_.data() + segment.row * banks_; }
    void forget(Cycles now);
    std::size_t at(std::size_t from, Cycles cycle) const;
    std::size_t cut(std::size_t from, Cycles cycle);
    std::size_t new_row();
    void sum_rooms(Span span, std::size_t first, Cycles begin, Cycles end);
    bool enough(Span span, const std::vector<std::int64_t>& lines) const;
    Cycles end_for(std::size_t bank, std::int64_t need, std::size_t first, Cycles begin) const;
    void share(Span span, const std::vector<std::int64_t>& lines);

    const std::size_t banks_;
    std::vector<Segment> segments_;      // those before the head are forgotten …
    std::size_t head_ = 0;               // … and taken away when they are as many as the others
    std::vector<std::int32_t> parts_;    // rows of parts that are free in a cycle, by bank
    std::vector<std::size_t> unused_;    // rows of forgotten segments, to be used again
    std::vector<std::int64_t> rooms_;    // by bank, of the reservation at work
    std::vector<std::uint32_t> shares_;  // likewise, at most 2^kShareBits
};

}  // namespace systole
