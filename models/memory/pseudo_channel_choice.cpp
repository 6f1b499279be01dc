// SPDX-License-Identifier: Apache-2.0
// What a pseudo-channel does next: the scheduler's choice among columns, rows and refreshes, and bounds on
// what it can do at all.
#include <algorithm>
#include <bit>
#include <limits>

#include "models/memory/pseudo_channel.h"

namespace systole {
namespace {

constexpr std::uint64_t bit(int bank) {
    return std::uint64_t{1} << bank;
}

constexpr Direction other(Direction direction) {
    return direction == Direction::Read ? Direction::Write : Direction::Read;
}

}  // namespace

Choice PseudoChannel::next(const CommandBus& bus, Cycles now) {
    Choice best;
    best.when = std::min(change_, refresh_.due());
    best.kind = Choice::Kind::Change;
    if (best.when <= now) return best;
    if (refresh_.pending()) {
        const Choice refresh = next_refresh(bus, now);
        if (refresh.before(best)) best = refresh;
        if (blocked()) return best;
    }
    if (!column_known_ || column_.when < bus.free(column_.command)) {
        column_ = best_column(bus, now);
        column_known_ = true;
    }
    if (!row_known_ || row_.when < bus.free(row_.command)) {
        row_ = best_row(bus, now);
        row_known_ = true;
    }
    if (column_.before(best)) best = column_;
    if (row_.before(best)) best = row_;
    if (best.kind == Choice::Kind::Column && closes_after(best.direction, best.bank))
        best.command = best.direction == Direction::Read ? Command::ReadAp : Command::WriteAp;
    return best;
}

/// The banks with a burst of the direction that may be given its column: of the active direction all hits, of
/// the other those that a row was opened for.
std::uint64_t PseudoChannel::column_banks(Direction direction) const {
    if (urgent_) {
        if (direction != active_) return 0;
        const int bank = window_.oldest(direction).bank;
        return window_.oldest_hit(direction, bank) == oldest_ ? bit(bank) & ~barred_ : 0;
    }
    const std::uint64_t hits = direction == active_ ? window_.hits(direction) & ~capped_ : 0;
    return (hits | bound(direction)) & ~barred_;
}

/// The banks that the active direction wants in another row, or opened.
std::uint64_t PseudoChannel::row_banks() const {
    if (urgent_) {
        const int bank = window_.oldest(active_).bank;
        return window_.oldest_hit(active_, bank) == oldest_ ? 0 : bit(bank) & ~barred_;
    }
    const std::uint64_t hits = window_.hits(active_);
    return (window_.misses(active_) | (hits & capped_)) & ~(hits & ~capped_) &
           ~(bound(Direction::Read) | bound(Direction::Write) | barred_);
}

Choice PseudoChannel::best_column(const CommandBus& bus, Cycles now) const {
    Choice best;
    best.kind = Choice::Kind::Column;
    consider_columns(active_, column_banks(active_), bus, now, best);
    const Direction idle = other(active_);
    if (bound(idle) != 0) consider_columns(idle, column_banks(idle), bus, now, best);
    return best;
}

void PseudoChannel::consider_columns(Direction direction, std::uint64_t banks, const CommandBus& bus,
                                     Cycles now, Choice& best) const {
    if (banks == 0) return;
    const Command command = direction == Direction::Read ? Command::Read : Command::Write;
    const Cycles soonest = std::max({now, bus.free(command), timing_.anywhere(command)});
    consider(command, direction, banks, soonest, window_.hits_by_age(direction), Choice::Kind::Column, best);
}

Choice PseudoChannel::best_row(const CommandBus& bus, Cycles now) const {
    Choice best;
    const std::uint64_t banks = row_banks();
    consider_rows(Command::Act, banks & ~window_.open_banks(), bus, now, best);
    consider_rows(Command::Pre, banks & window_.open_banks(), bus, now, best);
    return best;
}

/// The bank may have become one that wants a row command.
void PseudoChannel::consider_row(int bank, const CommandBus& bus, Cycles now) {
    if (!row_known_ || !(row_banks() & bit(bank))) return;
    const Command command = window_.open_banks() & bit(bank) ? Command::Pre : Command::Act;
    consider_rows(command, bit(bank), bus, now, row_);
}

void PseudoChannel::consider_rows(Command command, std::uint64_t banks, const CommandBus& bus, Cycles now,
                                  Choice& best) const {
    if (banks == 0) return;
    const Cycles soonest = std::max({now, bus.free(command), timing_.anywhere(command)});
    const std::uint64_t capped = banks & capped_ & window_.hits(active_);
    consider(command, active_, banks & ~capped, soonest, window_.misses_by_age(active_), Choice::Kind::Row, best);
    for (std::uint64_t left = capped; left != 0; left &= left - 1) {
        const int bank = std::countr_zero(left);
        const Choice choice{std::max(soonest, timing_.local(command, bank)),
                            std::min(window_.hits_by_age(active_)[bank], window_.misses_by_age(active_)[bank]),
                            Choice::Kind::Row,
                            command,
                            active_,
                            static_cast<std::int16_t>(bank)};
        if (choice.before(best)) best = choice;
    }
}

/// Puts the first of the same command to several banks into `best` if it comes before. Which one that is
/// cannot be predicted, so there is no branch to be mispredicted.
void PseudoChannel::consider(Command command, Direction direction, std::uint64_t banks, Cycles soonest,
                             const std::int64_t* sequences, Choice::Kind kind, Choice& best) const {
    const BankTiming::Locals locals = timing_.locals(command);
    std::int64_t when = best.when.value(), sequence = best.sequence;
    int found = -1;
    for (; banks != 0; banks &= banks - 1) {
        const int bank = std::countr_zero(banks);
        const std::int64_t at = std::max(soonest.value(), locals.ready(bank)), age = sequences[bank];
        const bool better = (at < when) | ((at == when) & (age < sequence));
        when = better ? at : when;
        sequence = better ? age : sequence;
        found = better ? bank : found;
    }
    if (found >= 0) best = {Cycles(when), sequence, kind, command, direction, static_cast<std::int16_t>(found)};
}

Choice PseudoChannel::next_refresh(const CommandBus& bus, Cycles now) const {
    Choice next;
    next.kind = Choice::Kind::Refresh;
    next.sequence = number_;
    if (refresh_.all_banks()) {
        next.command = window_.open_banks() != 0 ? Command::PreAll : Command::Refresh;
    } else {
        next.bank = static_cast<std::int16_t>(refresh_.bank());
        next.command = window_.open_row(next.bank) != Window::kClosed ? Command::Pre : Command::RefreshBank;
    }
    next.when = std::max({now, bus.free(next.command), timing_.earliest(next.command, next.bank)});
    return next;
}

/// Whether the page policy closes the bank with the next column it is given.
bool PseudoChannel::closes_after(Direction direction, int bank) const {
    if (page_ == PagePolicy::Open) return false;
    if (window_.hits_follow(direction, bank) || (window_.hits(other(direction)) & bit(bank))) return false;
    const std::uint64_t misses = window_.misses(Direction::Read) | window_.misses(Direction::Write);
    return page_ == PagePolicy::Closed || (misses & bit(bank));
}

/// No column is given before this clock.
Cycles PseudoChannel::column_bound(const CommandBus& bus, Cycles now) const {
    const Cycles activation = std::min(activation_[0], activation_[1]);
    const Cycles any = std::min(timing_.anywhere(Command::Read), timing_.anywhere(Command::Write));
    Cycles bound = change_ == Cycles::max() ? change_ : std::max({change_, now, any});
    if (refresh_.pending()) {
        const Cycles refreshed = next_refresh(bus, now).when + activation;
        if (blocked()) return std::max(refreshed, any);
        bound = std::min(bound, refreshed);
    }
    const Choice column = column_known_ ? column_ : best_column(bus, now);
    const Choice row = row_known_ ? row_ : best_row(bus, now);
    // Whatever row command comes first, a column of another row still needs an ACT of its own.
    if (row.when != Cycles::max()) bound = std::min(bound, row.when + activation);
    return std::max(std::min(bound, column.when), now);
}

Cycles PseudoChannel::completion_bound(const CommandBus& bus, Cycles now) const {
    Cycles bound = book_.first_end();
    if (waiting() == 0) return bound;
    const Cycles column = column_bound(bus, now);
    for (const Direction direction : {Direction::Read, Direction::Write}) {
        if (window_.size(direction) == 0 && door(direction).bursts == 0) continue;
        const Cycles rest = of(ccd_, direction) * (columns_to_completion(direction) - 1);
        bound = std::min(bound, column + rest + of(latency_, direction));
    }
    return bound;
}

/// At least so many columns are given until some request of the direction is complete.
std::int64_t PseudoChannel::columns_to_completion(Direction direction) const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    window_.for_each(direction,
                     [&](const Window::Burst& burst) { least = std::min(least, book_.left(burst.request)); });
    const std::int64_t free = window_.free_entries(direction);
    std::int64_t before = 0;  // bursts at the door that enter earlier
    const Fifo<Range>& ranges = door(direction).ranges;
    for (std::size_t i = 0; i < ranges.size() && before - free < least; ++i) {
        before += ranges[i].left;
        least = std::min(least, std::max(book_.left(ranges[i].request), before - free));
    }
    return least;
}

std::int64_t PseudoChannel::at_door(Direction direction) const {
    const Fifo<Range>& ranges = door(direction).ranges;
    std::size_t entering = 0;  // wholly, into entries that are free
    std::int64_t free = window_.free_entries(direction);
    for (; entering < ranges.size() && ranges[entering].left <= free; ++entering)
        free -= ranges[entering].left;
    return static_cast<std::int64_t>(ranges.size() - entering);
}

Cycles PseudoChannel::door_bound(Direction direction, const CommandBus& bus, Cycles now) const {
    const Fifo<Range>& ranges = door(direction).ranges;
    std::int64_t missing = -window_.free_entries(direction);
    for (std::size_t i = 0; i < ranges.size() && missing <= 0; ++i) missing += ranges[i].left;
    if (missing <= 0) return Cycles::max();
    return column_bound(bus, now) + of(ccd_, direction) * (missing - 1) + Cycles(1);
}

}  // namespace systole
