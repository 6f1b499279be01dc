// SPDX-License-Identifier: Apache-2.0
#include "models/memory/controller/pseudo_channel.h"

#include <algorithm>
#include <bit>

#include "sim/base/check.h"

namespace systole {
namespace {

Cycles distance(const DramSpec& spec, Scope scope, Command preceding, Command following) {
    return min_distance(constraint_table_of(spec.standard), spec.timing, scope, preceding, following);
}

}  // namespace

PseudoChannel::PseudoChannel(const DramSpec& spec, const AddressMap& map, int number,
                             std::shared_ptr<QueueEntries> entries)
    : map_(map),
      number_(number),
      shared_queue_(spec.shared_queue),
      policy_(spec.writes),
      page_(spec.page),
      row_hit_cap_(spec.row_hit_cap),
      patience_(spec.patience),
      burst_(spec.timing.at("BL")),
      groups_(spec.bank_groups),
      ccd_{distance(spec, Scope::PseudoChannel, Command::Read, Command::Read),
           distance(spec, Scope::PseudoChannel, Command::Write, Command::Write)},
      ccd_long_{distance(spec, Scope::Bank, Command::Read, Command::Read),
                distance(spec, Scope::Bank, Command::Write, Command::Write)},
      latency_{Cycles(spec.timing.at("CL")) + burst_, Cycles(spec.timing.at("CWL")) + burst_},
      activation_{distance(spec, Scope::Bank, Command::Act, Command::Read),
                  distance(spec, Scope::Bank, Command::Act, Command::Write)},
      precharge_(distance(spec, Scope::Bank, Command::Pre, Command::Act)),
      refresh_to_activation_(distance(
          spec, Scope::Bank, spec.refresh == RefreshPolicy::PerBank ? Command::RefreshBank : Command::Refresh,
          Command::Act)),
      activation_to_refresh_(distance(spec, Scope::PseudoChannel, Command::Act, Command::RefreshBank)),
      in_order_(page_ == PagePolicy::Open && map.groups_lowest() && map.column_stride() >= groups_),
      entries_(std::move(entries)),
      timing_(spec),
      window_(spec.banks(), spec.queue),
      refresh_(spec),
      ledger_(std::max(latency_[0], latency_[1])),
      opened_(static_cast<std::size_t>(spec.banks())),
      stream_(spec.banks(), map, spec.bursts_per_row()),
      wishes_(spec.banks()) {
    if (!in_order_) return;
    for (const Direction direction : {Direction::Read, Direction::Write})
        for (const bool open : {false, true})
            page_rows_[static_cast<std::size_t>(direction)][static_cast<std::size_t>(open)] =
                rows_of_page(timing_, CommandBus(spec), stream_.rotation(), open, of(ccd_, direction),
                             column_command(direction));
}

void PseudoChannel::follow(const PseudoChannel& other, std::shared_ptr<QueueEntries> entries) {
    entries_ = entries ? std::move(entries) : std::make_shared<QueueEntries>(*other.entries_);
    next_ = other.next_ == &other.chosen_ ? &chosen_ : other.next_ == &other.other_ ? &other_ : &kUndecided;
}

/// What lies before `now` delays nobody any more. It owns no clock of the bus either: the clocks up to an
/// arrival belong to an empty queue. Sequence numbers only matter among bursts that wait; whether what came
/// last was in order only says whether a stream is tried.
bool PseudoChannel::same_from(const PseudoChannel& other, Cycles now) const {
    // Which write was the last counts only while the bus is turned to writes: turning to them begins anew.
    const auto between_batches = [now](const PseudoChannel& bus) {
        const bool in_batch = bus.active_ == Direction::Write && bus.last_write_ != Window::kNone;
        return bus.idle() && !bus.urgent_ && !in_batch && bus.ledger_.end() <= now;
    };
    return between_batches(*this) && between_batches(other) && active_ == other.active_ &&
           (active_ == Direction::Read || write_floor_ == other.write_floor_) && change_ == other.change_ &&
           barred_ == other.barred_ && capped_ == other.capped_ && bound_ == other.bound_ &&
           row_hit_cap_ == 0 && refresh_.same_from_now_on(other.refresh_) &&
           window_.same_rows(other.window_) && timing_.same_from(other.timing_, now);
}

inline void PseudoChannel::enter(Direction direction, const Window::Burst& burst) {
    const bool first = window_.enter(direction, burst);
    entries_->take(direction);
    const auto side = static_cast<std::size_t>(direction);
    if (burst.local != last_local_[side] + 1) streak_[side] = 0, streak_begin_[side] = burst.sequence;
    ++streak_[side];
    last_local_[side] = burst.local;
    if (burst.sequence < oldest_) {
        oldest_ = burst.sequence;
        passed_ = 0;
    }
    if (page_ != PagePolicy::Open) next_known_ = false;  // a column may leave its bank open for it
    if (!first) return;                                  // others of its kind come first
    next_known_ = chosen_known_ = false;
    if (direction == active_) note(burst.bank);
}

void PseudoChannel::push(std::int64_t request, std::int64_t first, std::int64_t count, Direction direction,
                         std::int64_t sequence, Cycles now) {
    Door& door = doors_[static_cast<std::size_t>(direction)];
    door.last = now;
    if (count == 1 && door.bursts == 0 && entries_->free(direction) > 0) {
        enter(direction, {sequence, map_.row_of(first), first, now, book_.enter(request, 1, direction),
                          static_cast<std::int16_t>(map_.bank_of(first))});
        notice(now);
        return;
    }
    queue_up(request, first, count, direction, sequence, 0, now);
    if (!shared_queue_) wake(now);
}

void PseudoChannel::queue_up(std::int64_t request, std::int64_t first, std::int64_t count,
                             Direction direction, std::int64_t sequence, std::int64_t rank, Cycles now) {
    doors_[static_cast<std::size_t>(direction)].push(
        {count, first + count, sequence + count, rank + count, now, book_.enter(request, count, direction)});
}

void PseudoChannel::begin_clock(Cycles now) {
    change_ = Cycles::max();
    if (!shared_queue_) {
        admit(Direction::Read, now);
        admit(Direction::Write, now);
    }
    if (turns()) choose_direction(now);
    if (refresh_.begins(now, in_windows() > 0)) begin_refresh(now);
    notice(now + Cycles(1));
}

void PseudoChannel::admit(Direction direction, Cycles now) {
    while (entries_->free(direction) > 0 && door(direction).bursts > 0) admit_one(direction, now);
}

void PseudoChannel::admit_one(Direction direction, Cycles now) {
    Door& door = doors_[static_cast<std::size_t>(direction)];
    door.last = now;
    const WaitingRange& range = door.ranges.front();
    const std::int64_t burst = range.first();
    enter(direction, {range.sequence(), map_.row_of(burst), burst, now, range.request,
                      static_cast<std::int16_t>(map_.bank_of(burst))});
    door.leave(1);
}

/// As find_next(): many small calls, inlined.
[[gnu::flatten]] std::int64_t PseudoChannel::take(const Choice& choice) {
    next_known_ = false;
    if (choice.kind != Choice::Kind::Change) chosen_known_ = false;
    switch (choice.kind) {
        case Choice::Kind::Change:
            begin_clock(choice.when);
            return 0;
        case Choice::Kind::Column:
            return take_column(choice);
        case Choice::Kind::Row:
            return take_row(choice);
        case Choice::Kind::Refresh:
            break;
    }
    const std::int64_t row = choice.command == Command::Pre ? window_.open_row(choice.bank) : 0;
    take_refresh(choice);
    return row;
}

std::int64_t PseudoChannel::take_column(const Choice& choice) {
    const Direction direction = choice.direction;
    const int bank = choice.bank;
    const std::int64_t row = window_.open_row(bank);
    const Window::Burst burst = window_.take(direction, bank);
    entries_->give(direction);
    book_.serve(burst.request, 1, direction, choice.when + of(latency_, direction));
    book(choice, burst.entered);
    timing_.issue(choice.command, bank, choice.when);
    ++(direction == Direction::Read ? stats_.read_bursts : stats_.write_bursts);
    stats_.bus_busy += burst_;
    bound(direction) &= ~bank_bit(bank);
    if (row_hit_cap_ > 0) count_hit(direction, bank, burst.sequence);
    if (closes_bank(choice.command)) close(bank);
    if (burst.sequence == oldest_) {
        oldest_ =
            std::min(window_.oldest_sequence(Direction::Read), window_.oldest_sequence(Direction::Write));
        passed_ = 0;
        if (urgent_) {
            urgent_ = false;
            forget_choices();
            change_ = choice.when + Cycles(1);
        }
    } else {
        ++passed_;
    }
    note(bank);
    delay_group(bank, Wishes::Kind::Column, column_command(active_));
    if ((door(direction).bursts > 0 && !shared_queue_) || (refresh_.owes() && in_windows() == 0))
        change_ = choice.when + Cycles(1);
    notice(choice.when + Cycles(1));
    return row;
}

void PseudoChannel::note(const Choice& choice, RowStep& step) const {
    step.at = choice.when;
    step.bank_ready = timing_.of_bank(choice.command, choice.bank);
    step.shared_ready =
        std::max(timing_.anywhere(choice.command), timing_.group(choice.command, choice.bank));
}

std::int64_t PseudoChannel::take_row(const Choice& choice) {
    const int bank = choice.bank;
    if (choice.command == Command::Pre) {
        const std::int64_t row = precharge_row(choice);
        note(bank);
        notice(choice.when + Cycles(1));
        return row;
    }
    const std::int64_t row = window_.first_miss(choice.direction, bank).row;
    activate_row(choice, row);
    note(bank);
    delay_group(bank, Wishes::Kind::Act, Command::Act);
    notice(choice.when + Cycles(1));
    return row;
}

/// Hits that are given over the head of an older burst of the same bank are counted, up to the cap.
void PseudoChannel::count_hit(Direction direction, int bank, std::int64_t sequence) {
    if (window_.oldest_miss(direction, bank) > sequence) return;
    if (++opened(bank).hits_given < row_hit_cap_) return;
    capped_ |= bank_bit(bank);
}

/// Answers the row that was open.
std::int64_t PseudoChannel::precharge_row(const Choice& choice) {
    const std::int64_t row = window_.open_row(choice.bank);
    close(choice.bank);
    note(choice, opened(choice.bank).precharge);
    timing_.issue(Command::Pre, choice.bank, choice.when);
    return row;
}

/// The mark in bound() keeps the bank open until the burst that it was opened for is served.
void PseudoChannel::activate_row(const Choice& choice, std::int64_t row) {
    Opening& opened = this->opened(choice.bank);
    note(choice, opened.activation);
    timing_.issue(Command::Act, choice.bank, choice.when);
    window_.open(choice.bank, row);
    bound(choice.direction) |= bank_bit(choice.bank);
    opened.hits_given = 0;
    ++stats_.activates;
}

void PseudoChannel::close(int bank) {
    window_.close(bank);
    opened(bank).precharge = {};
    capped_ &= ~bank_bit(bank);
    bound(Direction::Read) &= ~bank_bit(bank);
    bound(Direction::Write) &= ~bank_bit(bank);
    ++stats_.precharges;
}

void PseudoChannel::take_refresh(const Choice& choice) {
    timing_.issue(choice.command, choice.bank, choice.when);
    forget_choices();
    if (choice.command == Command::Pre) {
        close(choice.bank);
    } else if (choice.command == Command::PreAll) {
        for (std::uint64_t open = window_.open_banks(); open != 0; open &= open - 1)
            close(std::countr_zero(open));
    } else {
        end_refresh(choice);
    }
    notice(choice.when + Cycles(1));
}

/// After a few rounds no command before them binds any more; whole rounds leave the turn to the same bank.
std::int64_t PseudoChannel::refreshes_to_skip(Cycles until) const {
    if (refresh_.due() >= until) return 0;
    const std::int64_t round = refresh_.all_banks() ? 1 : window_.banks();
    const std::int64_t rounds = (until - refresh_.due()).value() / (refresh_.interval().value() * round);
    return std::max<std::int64_t>(rounds - 4, 0) * round;
}

void PseudoChannel::skip_refreshes(std::int64_t count) {
    next_known_ = false;
    refresh_.skip(count);
    (refresh_.all_banks() ? stats_.refreshes : stats_.bank_refreshes) += count;
}

}  // namespace systole
