// SPDX-License-Identifier: Apache-2.0
// The bus account of the slow twin. An idle clock of the data bus belongs to the burst whose data comes next:
// so many clocks before as its latency is, at `tau`, its column might have been given, and the account asks
// what it waited for then. If it waited for its row, the clock to look at is as many before as an activation
// takes. "Might the command that was given at c have been given at tau instead?" is answered by the table in
// view of all commands given before it.
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
    const bool read = served.burst.direction == Direction::Read;
    const std::int64_t activation =
        min_distance(*find_constraint_table(spec_.standard), spec_.timing, Scope::Bank, Command::Act,
                     read ? Command::Read : Command::Write)
            .value();
    if (tau < commands()[served.activated].clock.value() + activation)
        return before_activation(served, tau - activation);
    if (tau < served.burst.entered) return BusTime::EmptyQueue;
    if (tau < served.active_since) return BusTime::Turnaround;
    GivenCommand column = served.column;
    column.clock = Cycles(tau);
    const auto forbidden = [&](const auto& counts) { return judge_.forbids(column, served.place, counts); };
    if (forbidden([read](const ConstraintRow& row) {
            return row.scope != Scope::Channel && (read ? writes(row) : reads(row));
        }))
        return BusTime::Turnaround;
    if (forbidden([](const ConstraintRow& row) { return row.scope != Scope::Channel; }))
        return BusTime::CcdLong;
    return BusTime::CommandBus;
}

/// What the ACT of its row, and before that the PRE that was given for it, waited for at a clock at which
/// they might have been given.
BusTime SlowChannel::before_activation(const Served& served, std::int64_t clock) const {
    const std::int64_t closed = min_distance(*find_constraint_table(spec_.standard), spec_.timing,
                                             Scope::Bank, Command::Pre, Command::Act)
                                    .value();
    GivenCommand activate = commands()[served.activated];
    activate.clock = Cycles(clock);
    const bool no_bank_may = judge_.forbids(activate, served.activated, [](const ConstraintRow& row) {
        return row.scope == Scope::PseudoChannel || row.scope == Scope::Group;
    });
    const std::optional<std::size_t> precharge = precharge_before(served.activated);
    if (!no_bank_may && precharge && clock < commands()[*precharge].clock.value() + closed)
        return before_row_command(served, *precharge, clock - closed, BusTime::CommandBus);
    return before_row_command(served, served.activated, clock, BusTime::Activation);
}

/// The PRE that closed the bank before its ACT `activated`; none if a column or a refresh closed it.
std::optional<std::size_t> SlowChannel::precharge_before(std::size_t activated) const {
    const GivenCommand& act = commands()[activated];
    for (std::size_t i = activated; i-- > 0;) {
        const GivenCommand& before = commands()[i];
        if (before.pseudo_channel != act.pseudo_channel) continue;
        if (before.command == Command::PreAll || before.command == Command::Refresh) return std::nullopt;
        if (before.bank != act.bank) continue;
        if (before.command == Command::Pre) return i;
        return std::nullopt;
    }
    return std::nullopt;
}

BusTime SlowChannel::before_row_command(const Served& served, std::size_t place, std::int64_t clock,
                                        BusTime shared) const {
    if (clock < served.burst.entered) return BusTime::EmptyQueue;
    for (const Blocked& blocked : blocked_[static_cast<std::size_t>(served.column.pseudo_channel)])
        if (clock >= blocked.from && clock < blocked.until &&
            (blocked.bank == kAll || blocked.bank == served.burst.bank))
            return BusTime::Refresh;
    GivenCommand command = commands()[place];
    command.clock = Cycles(clock);
    const auto forbidden = [&](const auto& counts) { return judge_.forbids(command, place, counts); };
    if (forbidden([](const ConstraintRow& row) {
            return row.scope == Scope::PseudoChannel || row.scope == Scope::Group;
        }))
        return shared;
    if (forbidden([](const ConstraintRow& row) { return row.scope == Scope::Bank; }))
        return BusTime::RowConflict;
    return clock < served.active_since ? BusTime::Turnaround : BusTime::CommandBus;
}

}  // namespace systole::test
