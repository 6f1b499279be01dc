// SPDX-License-Identifier: Apache-2.0
#include "models/memory/scratchpad/bank_calendar.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {

BankCalendar::BankCalendar(int banks, int ports)
    : rooms_(static_cast<std::size_t>(banks)), shares_(static_cast<std::size_t>(banks)) {
    SYSTOLE_CHECK(banks >= 1 && ports >= 1 && ports <= kMostPorts, "{} banks of {} ports", banks, ports);
    const auto whole = static_cast<std::int32_t>(ports * kParts);
    segments_.push_back({Cycles(0), std::vector<std::int32_t>(static_cast<std::size_t>(banks), whole)});
}

/// Drops what has passed.
void BankCalendar::forget(Cycles now) {
    const std::size_t passed = at(std::max(now, segments_.front().from));
    for (std::size_t i = 0; i < passed; ++i) unused_.push_back(std::move(segments_[i].free));
    segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(passed));
}

/// The segment of a cycle.
std::size_t BankCalendar::at(Cycles cycle) const {
    std::size_t i = 0;
    while (i + 1 < segments_.size() && segments_[i + 1].from <= cycle) ++i;
    return i;
}

/// Makes a segment begin at `cycle`.
void BankCalendar::cut(Cycles cycle) {
    const std::size_t i = at(cycle);
    if (segments_[i].from == cycle) return;
    Segment second{cycle, {}};
    if (!unused_.empty()) {
        second.free = std::move(unused_.back());
        unused_.pop_back();
    }
    second.free = segments_[i].free;
    segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(second));
}

/// What every bank has free in [begin, end).
void BankCalendar::sum_rooms(Cycles begin, Cycles end) {
    std::fill(rooms_.begin(), rooms_.end(), 0);
    for (std::size_t i = at(begin); i < segments_.size() && segments_[i].from < end; ++i) {
        const Cycles from = std::max(begin, segments_[i].from);
        const Cycles until = i + 1 < segments_.size() ? std::min(end, segments_[i + 1].from) : end;
        const std::int64_t cycles = (until - from).value();
        const std::int32_t* free = segments_[i].free.data();
        std::int64_t* room = rooms_.data();
        for (std::size_t bank = 0; bank < rooms_.size(); ++bank) room[bank] += cycles * free[bank];
    }
}

bool BankCalendar::enough(const std::vector<std::int64_t>& lines) const {
    bool enough = true;
    for (std::size_t bank = 0; bank < rooms_.size(); ++bank) enough &= lines[bank] * kParts <= rooms_[bank];
    return enough;
}

/// The first cycle before which `bank` has `need` parts free, from `begin` on.
Cycles BankCalendar::end_for(std::size_t bank, std::int64_t need, Cycles begin) const {
    for (std::size_t i = at(begin);; ++i) {
        const Cycles from = std::max(begin, segments_[i].from);
        const std::int64_t free = segments_[i].free[bank];
        const Cycles until = i + 1 < segments_.size() ? segments_[i + 1].from : Cycles::max();
        const std::int64_t length = (until - from).value();
        if (free > 0 && ceil_div(need, free) <= length) return from + Cycles(ceil_div(need, free));
        SYSTOLE_CHECK(i + 1 < segments_.size(), "bank {} is never free again", bank);
        need -= free * length;
    }
}

Cycles BankCalendar::take(Cycles now, Cycles begin, Cycles least, const BankLoad& load) {
    const std::vector<std::int64_t>& lines = load.lines();
    SYSTOLE_CHECK(
        begin >= now && least >= Cycles(1) && lines.size() == rooms_.size() && load.busiest() < kMostAccesses,
        "{} accesses of a bank from cycle {} on, in cycle {}", load.busiest(), begin.value(), now.value());
    SYSTOLE_CHECK(segments_.front().from <= now, "asked in cycle {}, but what was before {} is forgotten",
                  now.value(), segments_.front().from.value());
    forget(now);
    Cycles end = begin + least;
    sum_rooms(begin, end);
    if (!enough(lines)) {
        for (std::size_t bank = 0; bank < rooms_.size(); ++bank)
            if (lines[bank] * kParts > rooms_[bank])
                end = std::max(end, end_for(bank, lines[bank] * kParts, begin));
        sum_rooms(begin, end);
    }
    for (std::size_t bank = 0; bank < rooms_.size(); ++bank)
        shares_[bank] = lines[bank] == 0 ? 0 : ceil_div((lines[bank] * kParts) << kShareBits, rooms_[bank]);
    cut(begin);
    cut(end);
    for (std::size_t i = at(begin); segments_[i].from < end; ++i) {
        std::int32_t* free = segments_[i].free.data();
        for (std::size_t bank = 0; bank < rooms_.size(); ++bank) {
            const std::int64_t given = (free[bank] * shares_[bank] + (1 << kShareBits) - 1) >> kShareBits;
            free[bank] -= static_cast<std::int32_t>(given);
        }
    }
    return end - begin;
}

}  // namespace systole
