// SPDX-License-Identifier: Apache-2.0
// Who owns the idle clocks before a burst's data: what its command waited for so many clocks before, as the
// burst's latency is. For each possible reason there is a clock until which it held the command back, in view
// of everything given before; of several reasons the first in this order counts.
#include <algorithm>

#include "models/memory/pseudo_channel.h"

namespace systole {

void PseudoChannel::book(const Choice& column, Cycles entered) {
    const Cycles latency = of(latency_, column.direction) - burst_;
    if (ledger_.end() < column.when + latency) {
        ledger_.forget(column.when);
        book_wait(column, entered);
    }
    ledger_.book(BusTime::Transfer, column.when + latency + burst_);
}

void PseudoChannel::book_wait(const Choice& column, Cycles entered) {
    const Cycles latency = of(latency_, column.direction) - burst_;
    ledger_.book(BusTime::EmptyQueue, std::min(entered, column.when) + latency);
    while (!blockings_.empty() && blockings_.front().until + latency_.front() < ledger_.end())
        blockings_.pop();
    for (std::size_t i = 0; i < blockings_.size(); ++i) {
        const Blocking& blocking = blockings_[i];
        if (!refresh_.all_banks() && blocking.bank != column.bank) continue;
        if (blocking.until + latency <= ledger_.end() || blocking.from >= column.when) continue;
        book_reasons(column, blocking.from);
        ledger_.book(BusTime::Refresh, std::min(blocking.until, column.when) + latency);
    }
    book_reasons(column, column.when);
}

/// Books up to the data clock that belongs to the command clock `end`.
void PseudoChannel::book_reasons(const Choice& column, Cycles end) {
    const Cycles latency = of(latency_, column.direction) - burst_;
    const auto until = [&](Cycles clock, BusTime reason) {
        ledger_.book(reason, std::min(clock, end) + latency);
    };
    const Activation& activation = activations_[static_cast<std::size_t>(column.bank)];
    const Cycles active_since = column.direction == active_ ? active_since_ : Cycles();
    until(std::min(activation.at, activation.bank_ready), BusTime::RowConflict);
    until(std::min(activation.at, activation.shared_ready), BusTime::Activation);
    until(std::min(activation.at, active_since), BusTime::Turnaround);
    until(activation.at, BusTime::CommandBus);
    until(activation.at + of(activation_, column.direction), BusTime::RowConflict);
    until(std::max(active_since, timing_.after_opposite(column.command, column.bank)), BusTime::Turnaround);
    until(timing_.earliest(column.command, column.bank), BusTime::CcdLong);
    until(end, BusTime::CommandBus);
}

/// A refresh begins to keep the whole pseudo-channel, or its bank, from work.
void PseudoChannel::begin_refresh(Cycles now) {
    if (!refresh_.all_banks()) barred_ = std::uint64_t{1} << refresh_.bank();
    blockings_.push({refresh_.bank(), now, Cycles::max() - Cycles(kMaxLatency)});
    forget_choices();
}

void PseudoChannel::end_refresh(const Choice& refresh) {
    ++(refresh_.all_banks() ? stats_.refreshes : stats_.bank_refreshes);
    blockings_.back().until = refresh.when + refresh_to_activation_;
    refresh_.given();
    barred_ = 0;
    change_ = std::min(change_, refresh.when + Cycles(1));
}

}  // namespace systole
