// SPDX-License-Identifier: Apache-2.0
// What a unit waited for, whatever else it waited for at the same time: by class of dependency, for how long
// one was outstanding while the unit stood still. Classes overlap. The exclusive account (matrix_account.h)
// says who owned a wait; this says who would have held it alone, as overlapping hardware counters do.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/account/classes.h"
#include "sim/account/run_result.h"
#include "sim/base/units.h"

namespace systole::systolic {

class PendingTime {
public:
    /// The unit stands still in [begin, end). Ends the wait before it, if there was one.
    void wait(Ticks begin, Ticks end);
    /// During this wait a dependency of a class was outstanding in [since, until); what lies outside of the
    /// wait does not count.
    void outstanding(SlotClass dependency, Ticks since, Ticks until);
    /// The same from the wait's beginning on.
    void outstanding(SlotClass dependency, Ticks until) { outstanding(dependency, begin_, until); }
    /// The wait is over: adds up the time of each class, counting what overlaps within a class once.
    void close();

    Ticks of(SlotClass dependency) const { return sums_[static_cast<std::size_t>(dependency)]; }
    /// All waits.
    Ticks waited() const { return waited_; }
    /// The latest end of what is outstanding in the present wait; its beginning without any.
    Ticks settled() const;

private:
    struct Interval {
        SlotClass dependency;
        Ticks since, until;
    };
    Ticks begin_, end_, waited_;
    std::vector<Interval> open_;
    std::array<Ticks, kSlotClasses> sums_;
};

/// The counters of a unit: `waited`, and `pending_<class>` of every class that can be waited for.
std::vector<Stat> pending_stats(const std::string& path, const PendingTime& pending);

}  // namespace systole::systolic
