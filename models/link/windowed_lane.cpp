// SPDX-License-Identifier: Apache-2.0
#include "models/link/windowed_lane.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {

/// At first no item is under way: the window is full of items that ended long ago.
WindowedLane::WindowedLane(std::int64_t window, WireTime round_trip)
    : round_trip_(round_trip), ends_{{-round_trip, 0, window}} {
    SYSTOLE_CHECK(window > 0, "a window of {}", window);
}

WireTime WindowedLane::pass(WireTime now, WireTime ready, std::int64_t items, WireTime length) {
    settle(now);
    free_ = std::max(free_, ready);
    while (items > 0) {
        Run& oldest = ends_.front();
        const Run starts{oldest.first + round_trip_, oldest.step, std::min(items, oldest.count)};
        oldest.first += oldest.step * starts.count;
        oldest.count -= starts.count;
        if (oldest.count == 0) ends_.pop_front();
        pass_run(starts, length);
        items -= starts.count;
    }
    return free_;
}

/// Items that may begin at the times of `starts`: as soon as the wire is free while it is the slower of the
/// two, as soon as they may from the first that would find it free.
void WindowedLane::pass_run(const Run& starts, WireTime length) {
    // free_ + i * length <= starts.first + i * starts.step
    std::int64_t behind = starts.count;
    if (starts.first >= free_)
        behind = 0;
    else if (starts.step > length)
        behind = static_cast<std::int64_t>(std::min<WireTime>(
            starts.count, (free_ - starts.first + starts.step - length - 1) / (starts.step - length)));
    remember(free_ + length, length, behind);
    free_ += length * behind;
    const std::int64_t rest = starts.count - behind;
    if (rest == 0) return;
    const WireTime step = std::max(starts.step, length);
    const WireTime first = starts.first + starts.step * behind + length;
    remember(first, step, rest);
    free_ = first + step * (rest - 1);
}

void WindowedLane::remember(WireTime first, WireTime step, std::int64_t count) {
    if (count == 0) return;
    if (!ends_.empty()) {
        Run& last = ends_.back();
        const WireTime gap = first - (last.first + last.step * (last.count - 1));
        const bool fits = (last.count == 1 || last.step == gap) && (count == 1 || step == gap);
        if (fits) {
            last.step = gap;
            last.count += count;
            return;
        }
    }
    ends_.push_back({first, step, count});
}

void WindowedLane::occupy(WireTime now, WireTime length) {
    settle(now);
    other_at_ = now;
    other_ += length;
}

void WindowedLane::settle(WireTime now) {
    if (other_ == 0 || now <= other_at_) return;
    free_ = std::max(free_, other_at_) + other_;
    other_ = 0;
}

}  // namespace systole
