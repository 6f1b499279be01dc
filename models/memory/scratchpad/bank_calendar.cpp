// SPDX-License-Identifier: Apache-2.0
#include "models/memory/scratchpad/bank_calendar.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {

BankCalendar::BankCalendar(int banks, int ports)
    : banks_(static_cast<std::size_t>(banks)), rooms_(banks_), shares_(banks_) {
    SYSTOLE_CHECK(banks >= 1 && ports >= 1 && ports <= kMostPorts, "{} banks of {} ports", banks, ports);
    parts_.assign(banks_, static_cast<std::int32_t>(ports * kParts));
    segments_.push_back({Cycles(0), 0});
}

/// Drops what has passed.
void BankCalendar::forget(Cycles now) {
    for (; head_ + 1 < segments_.size() && segments_[head_ + 1].from <= now; ++head_)
        unused_.push_back(segments_[head_].row);
    if (head_ < segments_.size() - head_) return;
    segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
}

/// The segment of a cycle: `from` or one behind it.
std::size_t BankCalendar::at(std::size_t from, Cycles cycle) const {
    if (segments_.back().from <= cycle) return segments_.size() - 1;
    const auto behind =
        std::upper_bound(segments_.begin() + static_cast<std::ptrdiff_t>(from) + 1, segments_.end(), cycle,
                         [](Cycles asked, const Segment& segment) { return asked < segment.from; });
    return static_cast<std::size_t>(behind - segments_.begin()) - 1;
}

std::size_t BankCalendar::new_row() {
    if (unused_.empty()) {
        parts_.resize(parts_.size() + banks_);
        return parts_.size() / banks_ - 1;
    }
    const std::size_t row = unused_.back();
    unused_.pop_back();
    return row;
}

/// Makes a segment, `from` or one behind it, begin at `cycle`.
std::size_t BankCalendar::cut(std::size_t from, Cycles cycle) {
    const std::size_t i = at(from, cycle);
    if (segments_[i].from == cycle) return i;
    const Segment second{cycle, new_row()};
    std::copy_n(free_of(segments_[i]), banks_, free_of(second));
    segments_.insert(segments_.begin() + static_cast<std::ptrdiff_t>(i) + 1, second);
    return i + 1;
}

/// What the banks have free in [begin, end), of which segment `first` is the first.
void BankCalendar::sum_rooms(Span span, std::size_t first, Cycles begin, Cycles end) {
    std::fill(rooms_.begin() + static_cast<std::ptrdiff_t>(span.begin),
              rooms_.begin() + static_cast<std::ptrdiff_t>(span.end), 0);
    for (std::size_t i = first; i < segments_.size() && segments_[i].from < end; ++i) {
        const Cycles from = std::max(begin, segments_[i].from);
        const Cycles until = i + 1 < segments_.size() ? std::min(end, segments_[i + 1].from) : end;
        const std::int64_t cycles = (until - from).value();
        const std::int32_t* free = free_of(segments_[i]);
        std::int64_t* room = rooms_.data();
        for (std::size_t bank = span.begin; bank < span.end; ++bank) room[bank] += cycles * free[bank];
    }
}

bool BankCalendar::enough(Span span, const std::vector<std::int64_t>& lines) const {
    bool enough = true;
    for (std::size_t bank = span.begin; bank < span.end; ++bank)
        enough &= lines[bank] * kParts <= rooms_[bank];
    return enough;
}

/// The first cycle before which `bank` has `need` parts free, from `begin` on, which is in segment `first`.
Cycles BankCalendar::end_for(std::size_t bank, std::int64_t need, std::size_t first, Cycles begin) const {
    for (std::size_t i = first;; ++i) {
        const Cycles from = std::max(begin, segments_[i].from);
        const std::int64_t free = free_of(segments_[i])[bank];
        const Cycles until = i + 1 < segments_.size() ? segments_[i + 1].from : Cycles::max();
        const std::int64_t length = (until - from).value();
        if (free > 0 && ceil_div(need, free) <= length) return from + Cycles(ceil_div(need, free));
        SYSTOLE_CHECK(i + 1 < segments_.size(), "bank {} is never free again", bank);
        need -= free * length;
    }
}

/// Which part of its room each bank gives. Neighbours mostly give the same: dividing is what takes long.
void BankCalendar::share(Span span, const std::vector<std::int64_t>& lines) {
    for (std::size_t bank = span.begin; bank < span.end; ++bank) {
        if (bank > span.begin && lines[bank] == lines[bank - 1] && rooms_[bank] == rooms_[bank - 1])
            shares_[bank] = shares_[bank - 1];
        else if (lines[bank] == 0)
            shares_[bank] = 0;
        else
            shares_[bank] =
                static_cast<std::uint32_t>(ceil_div((lines[bank] * kParts) << kShareBits, rooms_[bank]));
    }
}

Cycles BankCalendar::take(Cycles now, Cycles begin, Cycles least, const BankLoad& load) {
    const std::vector<std::int64_t>& lines = load.lines();
    SYSTOLE_CHECK(begin >= now && least >= Cycles(1) && lines.size() == banks_,
                  "from cycle {} on, in cycle {}: {} cycles of {} banks", begin.value(), now.value(),
                  least.value(), lines.size());
    SYSTOLE_CHECK(segments_[head_].from <= now, "asked in cycle {}, but what was before {} is forgotten",
                  now.value(), segments_[head_].from.value());
    forget(now);
    Span span{0, banks_};  // few banks are neighbours: the lines of a chunk
    while (span.begin < span.end && lines[span.begin] == 0) ++span.begin;
    while (span.begin < span.end && lines[span.end - 1] == 0) --span.end;
    std::int64_t busiest = 0;
    for (std::size_t bank = span.begin; bank < span.end; ++bank) busiest = std::max(busiest, lines[bank]);
    SYSTOLE_CHECK(busiest < kMostAccesses, "{} accesses of a bank in cycle {}", busiest, now.value());
    const std::size_t first = at(head_, begin);
    Cycles end = begin + least;
    sum_rooms(span, first, begin, end);
    if (!enough(span, lines)) {
        for (std::size_t bank = span.begin; bank < span.end; ++bank)
            if (lines[bank] * kParts > rooms_[bank])
                end = std::max(end, end_for(bank, lines[bank] * kParts, first, begin));
        sum_rooms(span, first, begin, end);
    }
    share(span, lines);
    const std::size_t from = cut(first, begin), until = cut(from, end);
    for (std::size_t i = from; i < until; ++i) {
        std::int32_t* free = free_of(segments_[i]);
        for (std::size_t bank = span.begin; bank < span.end; ++bank) {
            const std::uint64_t given =
                std::uint64_t{static_cast<std::uint32_t>(free[bank])} * shares_[bank] + (1U << kShareBits) -
                1;
            free[bank] -= static_cast<std::int32_t>(given >> kShareBits);
        }
    }
    return end - begin;
}

}  // namespace systole
