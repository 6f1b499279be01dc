// SPDX-License-Identifier: Apache-2.0
// The entries of a scheduler's queues, so many for reads and so many for writes: of one pseudo-channel, or of
// all pseudo-channels of a channel together. Only counted; the bursts are in each one's window. Of streams it
// is known in advance when they give entries back: all that came by then are ranked by their order, and a
// burst enters when no more than `depth` before it still wait.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "models/memory/standards/dram_command.h"
#include "sim/base/units.h"

namespace systole {

class QueueEntries {
public:
    explicit QueueEntries(int depth) : depth_(depth) {}

    int depth() const { return depth_; }
    int used(Direction direction) const { return used_[index(direction)]; }
    int free(Direction direction) const { return depth_ - used(direction); }
    void take(Direction direction, int count = 1) { used_[index(direction)] += count; }
    void give(Direction direction, int count = 1) { used_[index(direction)] -= count; }

    // --- while there are streams; they share one direction ---

    /// The first stream, or another whose columns come as often, less than a cadence apart.
    void begin_stream(Cycles begin, Cycles cadence) {
        streams_ = 1, bursts_ = 0;
        first_ = second_ = begin;
        cadence_ = cadence;
    }
    void add_stream(Cycles begin) {
        ++streams_;
        first_ = std::min(first_, begin), second_ = std::max(second_, begin);
    }
    /// So many more come; answers the rank of the first.
    std::int64_t rank(std::int64_t count) { return (bursts_ += count) - count; }
    std::int64_t bursts() const { return bursts_; }
    /// The clock of the n-th column of all streams, from 0.
    Cycles column(std::int64_t n) const {
        if (streams_ == 1) return first_ + cadence_ * n;
        return ((n & 1) == 0 ? first_ : second_) + cadence_ * (n >> 1);
    }
    /// The scheduler sees a burst from this clock on: an entry freed at one clock is filled at the next.
    Cycles entry(std::int64_t rank, Cycles arrived) const {
        return rank < depth_ ? arrived : std::max(arrived, column(rank - depth_) + Cycles(1));
    }

private:
    static std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }

    int depth_;
    std::array<int, 2> used_{};
    int streams_ = 0;          // one, or two that share the entries
    std::int64_t bursts_ = 0;  // that have a rank
    Cycles first_, second_;    // the clocks at which their columns begin, …
    Cycles cadence_;           // … and how far they are apart within a stream
};

}  // namespace systole
