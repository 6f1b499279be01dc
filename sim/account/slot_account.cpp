// SPDX-License-Identifier: Apache-2.0
#include "sim/account/slot_account.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/check.h"
#include "sim/base/checked.h"

namespace systole {
namespace {

using Interval = SlotAccount::Interval;

bool same_split(const Interval& a, const Interval& b) {
    return a.useful == b.useful && a.padding == b.padding && a.rest == b.rest && a.rest_class == b.rest_class;
}

/// The split in its one spelling, so that equal splits compare equal: `rest` is never useful or padding.
Interval make_interval(Ticks end, std::int64_t useful, std::int64_t padding, std::int64_t rest,
                       SlotClass owner) {
    if (owner == SlotClass::Useful) useful += std::exchange(rest, 0);
    if (owner == SlotClass::Padding) padding += std::exchange(rest, 0);
    if (rest == 0) owner = SlotClass::Tail;
    return {end, static_cast<std::int32_t>(useful), static_cast<std::int32_t>(padding),
            static_cast<std::int32_t>(rest), owner};
}

void add(ClassSlots& row, const Interval& interval, Ticks time) {
    row[static_cast<std::size_t>(SlotClass::Useful)] += interval.useful * time.value();
    row[static_cast<std::size_t>(SlotClass::Padding)] += interval.padding * time.value();
    row[static_cast<std::size_t>(interval.rest_class)] += interval.rest * time.value();
}

/// One pass over the account's intervals and the boundaries together.
void cut_one(const SlotAccount& account, const std::vector<Ticks>& boundaries,
             std::vector<ClassSlots>& rows) {
    Ticks now;
    std::size_t row = 0;
    for (const Interval& interval : account.intervals()) {
        while (now < interval.end) {
            while (boundaries[row] <= now) ++row;
            const Ticks next = std::min(interval.end, boundaries[row]);
            add(rows[row], interval, next - now);
            now = next;
        }
    }
}

}  // namespace

void SlotAccount::fill(Ticks until, SlotClass owner, std::int64_t slots) {
    fill_split(until, slots, 0, 0, owner);
}

void SlotAccount::fill_split(Ticks until, std::int64_t slots, std::int64_t useful, std::int64_t padding,
                             SlotClass rest) {
    SYSTOLE_CHECK(until >= until_, "charging until {} ps, already charged until {} ps", until.value(),
                  until_.value());
    SYSTOLE_CHECK(slots >= 0 && slots <= std::numeric_limits<std::int32_t>::max(), "a unit of {} slots",
                  slots);
    SYSTOLE_CHECK(useful >= 0 && padding >= 0 && useful + padding <= slots,
                  "{} useful and {} padding slots of {} at {} ps", useful, padding, slots, until_.value());
    if (until == until_) return;

    const auto slot_ticks = checked_mul(slots, (until - until_).value());
    const auto capacity = slot_ticks ? checked_add(capacity_, *slot_ticks) : std::nullopt;
    SYSTOLE_CHECK(capacity, "slot-ticks of {} slots leave 64 bits at {} ps", slots, until.value());
    capacity_ = *capacity;
    until_ = until;

    const Interval interval = make_interval(until, useful, padding, slots - useful - padding, rest);
    if (!intervals_.empty() && same_split(intervals_.back(), interval))
        intervals_.back().end = until;
    else
        intervals_.push_back(interval);
}

std::vector<ClassSlots> cut(const std::vector<const SlotAccount*>& accounts,
                            const std::vector<Ticks>& boundaries) {
    SYSTOLE_CHECK(std::is_sorted(boundaries.begin(), boundaries.end()), "boundaries are not in order");
    const Ticks end = boundaries.empty() ? Ticks() : boundaries.back();
    std::optional<std::int64_t> capacity = 0;
    std::vector<ClassSlots> rows(boundaries.size(), ClassSlots{});
    for (const SlotAccount* account : accounts) {
        SYSTOLE_CHECK(account->charged_until() == end, "an account ends at {} ps, the last boundary is {} ps",
                      account->charged_until().value(), end.value());
        capacity = checked_add(*capacity, account->capacity());
        SYSTOLE_CHECK(capacity, "slot-ticks of {} accounts leave 64 bits", accounts.size());
        cut_one(*account, boundaries, rows);
    }
    return rows;
}

}  // namespace systole
