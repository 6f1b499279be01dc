// SPDX-License-Identifier: Apache-2.0
// Books every clock of one data bus to its owner, in order. Commands are booked when they are given, their
// data moves later: what lies beyond the moment asked about is left out again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "models/memory/controller/bus_account.h"
#include "sim/base/units.h"

namespace systole {

class BusLedger {
public:
    /// Whoever asks about some clock does so before anything is booked that lies `reach` clocks behind it.
    explicit BusLedger(Cycles reach) : recent_(std::bit_ceil(static_cast<std::size_t>(reach.value()) + 2)) {}

    /// Everything before is booked.
    Cycles end() const { return end_; }

    /// The clocks from end() up to `until`, if there are any, belong to `owner`.
    void book(BusTime owner, Cycles until) {
        if (until > end_) extend(owner, until);
    }

    /// All clocks before `now`; those that are not booked belong to an empty queue.
    BusAccount until(Cycles now) const {
        BusAccount account = account_;
        Cycles end = end_;
        for (std::size_t i = last_; end > now; --i) {
            const Cycles begin = std::max(span(i - 1).end, now);
            account[span(i).owner] -= (end - begin).value();
            end = begin;
        }
        account[BusTime::EmptyQueue] += (now - end).value();
        return account;
    }

private:
    struct Span {
        BusTime owner = BusTime::EmptyQueue;
        Cycles end;
    };

    [[gnu::noinline]] void extend(BusTime owner, Cycles until) {
        account_[owner] += (until - end_).value();
        last_ += span(last_).owner == owner ? 0 : 1;
        recent_[last_ & (recent_.size() - 1)] = {owner, until};
        end_ = until;
    }
    const Span& span(std::size_t i) const { return recent_[i & (recent_.size() - 1)]; }

    BusAccount account_;
    Cycles end_;
    // The last spans, each from the end of the one before, in a ring: none is shorter than one clock.
    std::vector<Span> recent_;
    std::size_t last_ = 0;
};

}  // namespace systole
