// SPDX-License-Identifier: Apache-2.0
// One direction of a link with a limit on what is under way: items pass one after another, and the n-th may
// begin only a round trip after the (n - window)-th has ended, when its tag or its credits are back. That is
//
//     end(n) = max(end(n - 1), ready(n), end(n - window) + round_trip) + length(n)
//
// for every item, in closed form: the last `window` ends are kept as runs of equally spaced ones, and any
// number of equal items takes a few operations per run.
#pragma once

#include <cstdint>
#include <deque>

#include "models/link/pcie_wire.h"

namespace systole {

class WindowedLane {
public:
    WindowedLane(std::int64_t window, WireTime round_trip);

    /// `items` items of `length` each arrive at `now`, not before an earlier call's, and may begin at
    /// `ready`, not before an earlier one's. Answers the end of the last.
    WireTime pass(WireTime now, WireTime ready, std::int64_t items, WireTime length);
    /// Other traffic takes the wire for `length` from `now` on. It delays what comes later than `now`, so
    /// that the order of calls at one time decides nothing.
    void occupy(WireTime now, WireTime length);

private:
    /// Ends of consecutive items.
    struct Run {
        WireTime first, step;
        std::int64_t count;
    };
    void settle(WireTime now);
    void pass_run(const Run& starts, WireTime length);
    void remember(WireTime first, WireTime step, std::int64_t count);

    const WireTime round_trip_;
    std::deque<Run> ends_;               // of the last `window` items, oldest first
    WireTime free_ = 0;                  // the wire, behind everything so far
    WireTime other_at_ = 0, other_ = 0;  // traffic that nothing was delayed by yet
};

}  // namespace systole
