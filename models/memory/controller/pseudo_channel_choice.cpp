// SPDX-License-Identifier: Apache-2.0
// What a pseudo-channel does next: the scheduler's choice among columns, rows and refreshes.
#include <algorithm>
#include <bit>

#include "models/memory/controller/pseudo_channel.h"

namespace systole {
namespace {

/// By clock, of one clock by age, without a branch; clocks are never negative.
bool comes_before(std::int64_t clock, std::int64_t sequence, std::int64_t other_clock,
                  std::int64_t other_sequence) {
    return clock - other_clock < static_cast<std::int64_t>(sequence < other_sequence);
}

}  // namespace

/// The calls below it are small and many: inlined they cost a fifth less. What is rare stays outside.
[[gnu::flatten]] const Choice& PseudoChannel::find_next(const CommandBus& bus, Cycles now) {
    other_.when = std::min(change_, refresh_.due());
    other_.kind = Choice::Kind::Change;
    other_.sequence = 0;
    if (other_.when <= now) return other_;
    if (refresh_.pending()) {
        const Choice refresh = next_refresh(bus, now);
        if (refresh.before(other_)) other_ = refresh;
        if (blocked()) return other_;
    }
    if (!chosen_holds(bus, now)) {
        if (!wishes_.kept(now)) note_all(now);
        chosen_known_ = !either(either(urgent_, barred_ != 0), !wishes_.kept(now));
        if (chosen_known_)
            find_wish(bus, now, chosen_);
        else
            search(bus, now, chosen_);
    }
    // Of one clock the other goes first: it is neither column nor row.
    const Choice* best = chosen_.when < other_.when ? &chosen_ : &other_;
    if (page_ == PagePolicy::Open || best->kind != Choice::Kind::Column) return *best;
    other_ = *best;
    if (closes_after(other_.direction, other_.bank))
        other_.command = other_.direction == Direction::Read ? Command::ReadAp : Command::WriteAp;
    return other_;
}

/// The banks with a burst of the direction that may be given its column: of the active direction all hits, of
/// the other those that a row was opened for; and of a reserved bank the urgent burst.
std::uint64_t PseudoChannel::column_banks(Direction direction) const {
    const std::uint64_t hits = direction == active_ ? window_.hits(direction) & ~capped_ : 0;
    const std::uint64_t banks = (hits | bound(direction)) & ~reserved();
    return urgent_ ? banks | urgent_column(direction) : banks;
}

[[gnu::noinline]] std::uint64_t PseudoChannel::urgent_column(Direction direction) const {
    return direction == urgent_direction() && urgent_is_ready() ? urgent_bank() : 0;
}

/// The banks that the active direction wants in another row, or opened; also those that are reserved.
std::uint64_t PseudoChannel::row_banks() const {
    const std::uint64_t hits = window_.hits(active_);
    return (window_.misses(active_) | (hits & capped_)) & ~(hits & ~capped_) &
           ~(bound(Direction::Read) | bound(Direction::Write));
}

/// The bank may want another command than before, or for another burst.
void PseudoChannel::note(int bank) {
    const std::uint64_t bit = bank_bit(bank);
    const std::int64_t hit = window_.oldest_hit(active_, bank), miss = window_.oldest_miss(active_, bank);
    if (((window_.hits(active_) & ~capped_) | bound(active_)) & bit)
        wishes_.set(bank, Wishes::Kind::Column, timing_.local(column_command(active_), bank), hit);
    else if (!(row_banks() & bit))
        wishes_.clear(bank);
    else if (window_.open_banks() & bit)
        wishes_.set(bank, Wishes::Kind::Pre, timing_.local(Command::Pre, bank), hit < miss ? hit : miss);
    else
        wishes_.set(bank, Wishes::Kind::Act, timing_.local(Command::Act, bank), miss);
}

void PseudoChannel::note_all(Cycles now) {
    wishes_.begin(now, oldest_);
    for (std::uint64_t left = window_.hits(active_) | window_.misses(active_); left != 0; left &= left - 1)
        note(std::countr_zero(left));
}

/// The first column, ACT or PRE.
void PseudoChannel::find_wish(const CommandBus& bus, Cycles now, Choice& best) const {
    const Command column = column_command(active_);
    const Wishes::ByKind soonest{soonest_of_any(column, bus, now), soonest_of_any(Command::Pre, bus, now),
                                 soonest_of_any(Command::Act, bus, now)};
    Wishes::First first;
    if (window_.size(active_) > 0) {
        const Window::Burst& oldest = window_.oldest(active_);
        first = wishes_.first(soonest, oldest.sequence, oldest.bank);
    }
    best.when = first.when;
    best.sequence = first.sequence;
    best.kind = first.column ? Choice::Kind::Column : Choice::Kind::Row;
    const Command row = row_command(bank_bit(first.bank));
    best.command = first.column ? column : row;
    best.direction = active_;
    best.bank = static_cast<std::int16_t>(first.bank);
    const Direction idle = opposite(active_);
    if (bound(idle) != 0) consider_other_columns(idle, bus, now, best);
}

/// As above, where more counts than clock and age.
[[gnu::noinline]] void PseudoChannel::search(const CommandBus& bus, Cycles now, Choice& best) const {
    find_column(bus, now, best);
    const Choice row = search_row(bus, now);
    if (row.before(best)) best = row;
}

void PseudoChannel::find_column(const CommandBus& bus, Cycles now, Choice& best) const {
    best.when = Cycles::max();
    best.sequence = 0;
    best.kind = Choice::Kind::Column;
    consider_columns(active_, column_banks(active_), bus, now, best);
    const Direction idle = opposite(active_);
    if (bound(idle) != 0 || urgent_) consider_other_columns(idle, bus, now, best);
}

/// Those of the direction to which the bus is not turned.
[[gnu::noinline]] void PseudoChannel::consider_other_columns(Direction idle, const CommandBus& bus,
                                                             Cycles now, Choice& best) const {
    Choice other;
    other.kind = Choice::Kind::Column;
    consider_columns(idle, column_banks(idle), bus, now, other);
    if (other.before(best)) best = other;
}

void PseudoChannel::consider_columns(Direction direction, std::uint64_t banks, const CommandBus& bus,
                                     Cycles now, Choice& best) const {
    if (banks == 0) return;
    const Command command = column_command(direction);
    const Cycles soonest = soonest_of_any(command, bus, now);
    consider(command, direction, banks, soonest, window_.hits_by_age(direction), Choice::Kind::Column, best);
}

/// The first ACT or PRE.
Choice PseudoChannel::search_row(const CommandBus& bus, Cycles now) const {
    Choice best;
    const std::uint64_t open = window_.open_banks(), banks = row_banks() & ~reserved();
    consider_rows(Command::Pre, active_, banks & open, bus, now, best);
    consider_rows(Command::Act, active_, banks & ~open, bus, now, best);
    if (!urgent_) return best;
    const std::uint64_t urgent = urgent_bank();
    if (!urgent_hits() && !(barred_ & urgent))
        consider_rows(row_command(urgent), urgent_direction(), urgent, bus, now, best);
    return best;
}

void PseudoChannel::consider_rows(Command command, Direction direction, std::uint64_t banks,
                                  const CommandBus& bus, Cycles now, Choice& best) const {
    if (banks == 0) return;
    const Cycles soonest = soonest_of_any(command, bus, now);
    if (barred_ != 0 && command == Command::Act) banks = activations_before_refresh(banks, soonest);
    const std::uint64_t capped = banks & capped_ & window_.hits(direction);
    consider(command, direction, banks & ~capped, soonest, window_.misses_by_age(direction),
             Choice::Kind::Row, best);
    if (capped != 0) consider_capped(command, direction, capped, soonest, best);
}

/// As above, of banks whose open row others still want.
[[gnu::noinline]] void PseudoChannel::consider_capped(Command command, Direction direction,
                                                      std::uint64_t banks, Cycles soonest,
                                                      Choice& best) const {
    for (std::uint64_t left = banks; left != 0; left &= left - 1) {
        const int bank = std::countr_zero(left);
        const Choice choice{
            std::max(soonest, timing_.local(command, bank)),
            std::min(window_.oldest_hit(direction, bank), window_.oldest_miss(direction, bank)),
            Choice::Kind::Row,
            command,
            direction,
            static_cast<std::int16_t>(bank)};
        if (choice.before(best)) best = choice;
    }
}

/// Of `banks` those that can be activated, from `soonest` on, without keeping the refresh of another bank
/// waiting: an ACT keeps it away for longer than it does the next ACT, so a stream of them would for ever.
[[gnu::noinline]] std::uint64_t PseudoChannel::activations_before_refresh(std::uint64_t banks,
                                                                          Cycles soonest) const {
    if (barred_ & window_.open_banks()) return banks;
    const Cycles latest =
        timing_.earliest(Command::RefreshBank, std::countr_zero(barred_)) - activation_to_refresh_;
    std::uint64_t in_time = 0;
    for (std::uint64_t left = soonest <= latest ? banks : 0; left != 0; left &= left - 1)
        if (timing_.local(Command::Act, std::countr_zero(left)) <= latest) in_time |= left & -left;
    return in_time;
}

/// Puts the first of the same command to several banks into `best` if it comes before. Which one that is
/// cannot be predicted, so there is no branch to be mispredicted.
void PseudoChannel::consider(Command command, Direction direction, std::uint64_t banks, Cycles soonest,
                             const std::int64_t* sequences, Choice::Kind kind, Choice& best) const {
    const BankTiming::Locals locals = timing_.locals(command);
    const std::int64_t earliest = soonest.value();
    std::int64_t when = best.when.value(), sequence = best.sequence;
    int found = -1;
    for (; banks != 0; banks &= banks - 1) {
        const auto bank = static_cast<unsigned>(std::countr_zero(banks));
        const std::int64_t ready = locals.ready(bank);
        const std::int64_t at = ready > earliest ? ready : earliest, candidate = sequences[bank];
        const bool better = comes_before(at, candidate, when, sequence);
        when = better ? at : when;
        sequence = better ? candidate : sequence;
        found = better ? static_cast<int>(bank) : found;
    }
    if (found < 0) return;
    best.when = Cycles(when);
    best.sequence = sequence;
    best.kind = kind;
    best.command = command;
    best.direction = direction;
    best.bank = static_cast<std::int16_t>(found);
}

[[gnu::noinline]] Choice PseudoChannel::next_refresh(const CommandBus& bus, Cycles now) const {
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
    if (window_.hits_follow(direction, bank) || (window_.hits(opposite(direction)) & bank_bit(bank)))
        return false;
    const std::uint64_t misses = window_.misses(Direction::Read) | window_.misses(Direction::Write);
    return page_ == PagePolicy::Closed || (misses & bank_bit(bank));
}

}  // namespace systole
