// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/pending.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::systolic {

void PendingTime::wait(Ticks begin, Ticks end) {
    SYSTOLE_CHECK(begin <= end && end_ <= begin && open_.empty(),
                  "a wait from {} to {} ps behind one to {} ps", begin.value(), end.value(), end_.value());
    begin_ = begin;
    end_ = end;
    waited_ += end - begin;
}

void PendingTime::outstanding(SlotClass dependency, Ticks since, Ticks until) {
    since = std::max(since, begin_);
    until = std::min(until, end_);
    if (since < until) open_.push_back({dependency, since, until});
}

Ticks PendingTime::settled() const {
    Ticks latest = begin_;
    for (const Interval& interval : open_) latest = std::max(latest, interval.until);
    return latest;
}

void PendingTime::close() {
    std::ranges::sort(open_, {}, &Interval::since);
    std::array<Ticks, kSlotClasses> counted;
    counted.fill(begin_);
    for (const Interval& interval : open_) {
        const auto at = static_cast<std::size_t>(interval.dependency);
        const Ticks from = std::max(interval.since, counted[at]);
        if (from >= interval.until) continue;
        sums_[at] += interval.until - from;
        counted[at] = interval.until;
    }
    open_.clear();
}

std::vector<Stat> pending_stats(const std::string& path, const PendingTime& pending) {
    std::vector<Stat> stats = {{path, "waited", "ps",
                                "time in which no vector streamed, until the last pass started",
                                pending.waited().value()}};
    for (const SlotClass dependency : {SlotClass::Ramp, SlotClass::Host, SlotClass::Memory, SlotClass::OnChip,
                                       SlotClass::Dependency, SlotClass::Vector, SlotClass::Launch})
        stats.push_back({path, "pending_" + std::string(to_string(dependency)), "ps",
                         "of it, while a dependency of this class was outstanding; classes overlap",
                         pending.of(dependency).value()});
    return stats;
}

}  // namespace systole::systolic
