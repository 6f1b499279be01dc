// SPDX-License-Identifier: Apache-2.0
// Who owned every slot of a matrix unit at every moment: a gapless sequence of intervals, each split among
// classes. Kept as intervals until the end of the run, when layer boundaries are known and cut it into rows.
#pragma once

#include <vector>

#include "sim/account/classes.h"
#include "sim/base/units.h"

namespace systole {

class SlotAccount {
public:
    /// One interval, from the end of the interval before it (time 0 for the first) to `end`. A unit either
    /// waits, which is one class, or works, which is useful, padding and one more; so three counts are
    /// enough. Runs have millions of intervals: 24 bytes each.
    struct Interval {
        Ticks end;
        std::int32_t useful = 0, padding = 0, rest = 0;  ///< slots of the unit; together all of them
        SlotClass rest_class = SlotClass::Tail;          ///< owner of `rest`; Tail where `rest` is 0

        std::int64_t slots() const { return std::int64_t{useful} + padding + rest; }
    };

    /// Charges all time since the last charged moment up to `until` to one class; nothing if `until` is that
    /// moment, a failed check if it lies before.
    void fill(Ticks until, SlotClass owner, std::int64_t slots);
    /// The same, split: `useful` slots, `padding` slots, the rest to `rest`.
    void fill_split(Ticks until, std::int64_t slots, std::int64_t useful, std::int64_t padding,
                    SlotClass rest);

    Ticks charged_until() const { return until_; }
    /// Neighbours differ: an interval that is split as the one before it extends that one.
    const std::vector<Interval>& intervals() const { return intervals_; }
    /// Slots x time charged so far.
    std::int64_t capacity() const { return capacity_; }

private:
    std::vector<Interval> intervals_;
    Ticks until_;
    std::int64_t capacity_ = 0;
};

/// Cuts accounts at `boundaries` (ascending; the last is the end of the run and of every account): row i
/// holds the slot-ticks of all accounts within (boundaries[i-1], boundaries[i]]. Integer-exact: rows sum to
/// capacity.
std::vector<ClassSlots> cut(const std::vector<const SlotAccount*>& accounts,
                            const std::vector<Ticks>& boundaries);

}  // namespace systole
