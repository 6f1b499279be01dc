// SPDX-License-Identifier: Apache-2.0
// Books every clock of one data bus to its owner, in order. Commands are booked when they are given, their
// data moves later: what lies beyond the moment asked about is left out again.
#pragma once

#include <algorithm>

#include "models/memory/controller/bus_account.h"
#include "models/memory/controller/fifo.h"
#include "sim/base/units.h"

namespace systole {

class BusLedger {
public:
    /// Everything before is booked.
    Cycles end() const { return end_; }

    /// The clocks from end() up to `until`, if there are any, belong to `owner`.
    void book(BusTime owner, Cycles until) {
        if (until > end_) extend(owner, until);
    }

    /// Nobody will ask about clocks before `now` any more.
    void forget(Cycles now) {
        while (!recent_.empty() && recent_.front().end <= now) recent_.pop();
    }

    /// All clocks before `now`; those that are not booked belong to an empty queue.
    BusAccount until(Cycles now) const {
        BusAccount account = account_;
        Cycles end = end_;
        for (std::size_t i = recent_.size(); i-- > 0 && end > now;) {
            const Cycles begin = std::max(i > 0 ? recent_[i - 1].end : now, now);
            account[recent_[i].owner] -= (end - begin).value();
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
        if (!recent_.empty() && recent_.back().owner == owner)
            recent_.back().end = until;
        else
            recent_.push({owner, until});
        end_ = until;
    }

    BusAccount account_;
    Cycles end_;
    Fifo<Span> recent_;  // the last spans, each from the end of the one before
};

}  // namespace systole
