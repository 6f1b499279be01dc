// SPDX-License-Identifier: Apache-2.0
// Who owns the idle clocks before a burst's data: what its column waited for so many clocks before, as its
// latency is, or what the ACT, or the PRE, that had to come first waited for as many clocks earlier as those
// take. For each possible reason there is a clock until which it held the command back, in view of everything
// given before; of several reasons the first in this order counts.
#include <algorithm>

#include "models/memory/controller/pseudo_channel.h"

namespace systole {

void PseudoChannel::book(const Choice& column, Cycles entered) {
    book_before(column, entered);
    ledger_.book(BusTime::Transfer, column.when + of(latency_, column.direction));
}

/// All clocks before its data.
void PseudoChannel::book_before(const Choice& column, Cycles entered) {
    if (ledger_.end() >= column.when + of(latency_, column.direction) - burst_) return;
    book_wait(column, entered);
}

void PseudoChannel::book_wait(const Choice& column, Cycles entered) {
    const Opening& opened = opened_[static_cast<std::size_t>(column.bank)];
    const Cycles latency = of(latency_, column.direction) - burst_;
    const Cycles activation = latency + of(activation_, column.direction);
    // What no bank may do is not blamed on this one: without its conflict the clocks were lost as well.
    RowStep shared = opened.activation;
    shared.at = std::min(shared.at, shared.shared_ready);
    book_row_wait(column, entered, shared, activation, BusTime::Activation);
    book_row_wait(column, entered, opened.precharge, activation + precharge_, BusTime::CommandBus);
    book_row_wait(column, entered, opened.activation, activation, BusTime::Activation);
    if (ledger_.end() >= column.when + latency) return;
    const Cycles active_since = column.direction == active_ ? active_since_ : Cycles();
    const auto until = [&](Cycles clock, BusTime reason) {
        ledger_.book(reason, std::min(clock, column.when) + latency);
    };
    until(entered, BusTime::EmptyQueue);
    until(std::max(active_since, timing_.after_opposite(column.command, column.bank)), BusTime::Turnaround);
    until(timing_.earliest(column.command, column.bank), BusTime::CcdLong);
    until(column.when, BusTime::CommandBus);
}

/// The idle clocks of the data bus, if there are any, that lie `latency` after those at which `step` towards
/// the column waited.
void PseudoChannel::book_row_wait(const Choice& column, Cycles entered, const RowStep& step, Cycles latency,
                                  BusTime shared) {
    if (step.at + latency <= ledger_.end()) return;
    ledger_.book(BusTime::EmptyQueue, std::min(entered, step.at) + latency);
    const auto reasons = [&](Cycles end) {
        const auto until = [&](Cycles clock, BusTime reason) {
            ledger_.book(reason, std::min(clock, end) + latency);
        };
        until(step.shared_ready, shared);
        until(step.bank_ready, BusTime::RowConflict);
        if (column.direction == active_) until(active_since_, BusTime::Turnaround);
        until(end, BusTime::CommandBus);
    };
    for (std::size_t i = 0; i < blockings_.size(); ++i) {
        const Blocking& blocking = blockings_[i];
        if (!refresh_.all_banks() && blocking.bank != column.bank) continue;
        if (blocking.until + latency <= ledger_.end() || blocking.from >= step.at) continue;
        reasons(blocking.from);
        ledger_.book(BusTime::Refresh, std::min(blocking.until, step.at) + latency);
    }
    reasons(step.at);
}

/// A refresh begins to keep the whole pseudo-channel, or its bank, from work.
void PseudoChannel::begin_refresh(Cycles now) {
    if (!refresh_.all_banks()) barred_ = bank_bit(refresh_.bank());
    // Nobody will ask about refreshes before everything that waits came, or whose clocks are all booked.
    const Cycles longest = std::max(latency_[0] + activation_[0], latency_[1] + activation_[1]) + precharge_;
    while (!blockings_.empty() && ((in_windows() == 0 && blockings_.front().until <= now) ||
                                   blockings_.front().until + longest < ledger_.end()))
        blockings_.pop();
    blockings_.push({refresh_.bank(), now, Cycles::max() - Cycles(kMaxLatency)});
    forget_choices();
}

void PseudoChannel::end_refresh(const Choice& refresh) {
    // What waits for a row now waits for the refresh, not for a PRE before it.
    if (refresh_.all_banks())
        for (Opening& opened : opened_) opened.precharge = {};
    else
        opened(refresh.bank).precharge = {};
    ++(refresh_.all_banks() ? stats_.refreshes : stats_.bank_refreshes);
    blockings_.back().until = refresh.when + refresh_to_activation_;
    refresh_.given();
    barred_ = 0;
    change_ = std::min(change_, refresh.when + Cycles(1));
}

}  // namespace systole
