// SPDX-License-Identifier: Apache-2.0
// The bus account of the slow twin. An idle clock of the data bus belongs to the burst whose data comes next:
// so many clocks before as its latency is, at `tau`, its command might have been given, and the account asks
// what it waited for then. "Might the command that was given at c have been given at tau instead?" is
// answered by the table in view of all commands given before it.
#include <algorithm>

#include "tests/unit/memory/slow_channel.h"

namespace systole::test {
namespace {

bool reads(const ConstraintRow& row) {
    return std::any_of(row.preceding.begin(), row.preceding.end(), is_read);
}

bool writes(const ConstraintRow& row) {
    return std::any_of(row.preceding.begin(), row.preceding.end(),
                       [](Command command) { return is_column(command) && !is_read(command); });
}

}  // namespace

BusAccount SlowChannel::account(int pseudo_channel, std::int64_t until) const {
    BusAccount account;
    std::int64_t clock = 0;
    for (const Served& served : served_) {
        if (served.column.pseudo_channel != pseudo_channel || served.column.clock.value() >= until) continue;
        const std::int64_t latency =
            spec_.timing.at(served.burst.direction == Direction::Read ? "CL" : "CWL");
        const std::int64_t begin = served.column.clock.value() + latency;
        for (; clock < std::min(begin, until); ++clock) ++account[owner(served, clock - latency)];
        const std::int64_t end = std::min(begin + spec_.timing.at("BL"), until);
        if (end > clock) account[BusTime::Transfer] += end - clock, clock = end;
    }
    account[BusTime::EmptyQueue] += until - clock;
    return account;
}

BusTime SlowChannel::owner(const Served& served, std::int64_t tau) const {
    if (tau < served.burst.entered) return BusTime::EmptyQueue;
    for (const Blocked& blocked : blocked_[static_cast<std::size_t>(served.column.pseudo_channel)])
        if (tau >= blocked.from && tau < blocked.until &&
            (blocked.bank == kAll || blocked.bank == served.burst.bank))
            return BusTime::Refresh;
    GivenCommand column = served.column;
    column.clock = Cycles(tau);
    const auto forbidden = [&](const auto& counts) { return judge_.forbids(column, served.place, counts); };
    if (tau < commands()[served.activated].clock.value()) return before_activation(served, tau);
    if (forbidden(
            [](const ConstraintRow& row) { return row.scope == Scope::Bank && !reads(row) && !writes(row); }))
        return BusTime::RowConflict;  // its row opens
    if (tau < served.active_since) return BusTime::Turnaround;
    const bool read = served.burst.direction == Direction::Read;
    if (forbidden([read](const ConstraintRow& row) {
            return row.scope != Scope::Channel && (read ? writes(row) : reads(row));
        }))
        return BusTime::Turnaround;
    if (forbidden([](const ConstraintRow& row) { return row.scope != Scope::Channel; }))
        return BusTime::CcdLong;
    return BusTime::CommandBus;
}

/// Its row is not open yet.
BusTime SlowChannel::before_activation(const Served& served, std::int64_t tau) const {
    GivenCommand activate = commands()[served.activated];
    activate.clock = Cycles(tau);
    const auto forbidden = [&](const auto& counts) {
        return judge_.forbids(activate, served.activated, counts);
    };
    if (forbidden([](const ConstraintRow& row) { return row.scope == Scope::Bank; }))
        return BusTime::RowConflict;
    if (forbidden([](const ConstraintRow& row) { return row.scope != Scope::Channel; }))
        return BusTime::Activation;
    return tau < served.active_since ? BusTime::Turnaround : BusTime::CommandBus;
}

}  // namespace systole::test
