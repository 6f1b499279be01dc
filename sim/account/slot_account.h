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
    /// One interval: `slots` of the unit at the rate that held then, each slot owned by one class.
    struct Interval {
        Ticks begin, end;
        std::array<std::int32_t, kSlotClasses> slots{};  ///< sums to the unit's slots in this interval
    };

    /// Charges all time since the last charged moment up to `until` to one class; nothing if `until` is that
    /// moment, a failed check if it lies before.
    void fill(Ticks until, SlotClass owner, std::int64_t slots);
    /// The same, split: `useful` slots, `padding` slots, the rest to `rest`.
    void fill_split(Ticks until, std::int64_t slots, std::int64_t useful, std::int64_t padding, SlotClass rest);

    Ticks charged_until() const { return until_; }
    const std::vector<Interval>& intervals() const { return intervals_; }
    /// Slots x time charged so far.
    std::int64_t capacity() const { return capacity_; }

private:
    std::vector<Interval> intervals_;
    Ticks until_;
    std::int64_t capacity_ = 0;
};

/// Cuts accounts at `boundaries` (ascending; the last is the end of the run and of every account): row i holds
/// the slot-ticks of all accounts within (boundaries[i-1], boundaries[i]]. Integer-exact: rows sum to capacity.
std::vector<ClassSlots> cut(const std::vector<const SlotAccount*>& accounts, const std::vector<Ticks>& boundaries);

}  // namespace systole
