// SPDX-License-Identifier: Apache-2.0
#include "models/memory/pseudo_channel.h"

#include <algorithm>
#include <bit>

#include "sim/base/check.h"

namespace systole {
namespace {

const ConstraintTable& table_of(const DramSpec& spec) {
    const ConstraintTable* table = find_constraint_table(spec.standard);
    SYSTOLE_CHECK(table, "no constraint table for {}", spec.standard);
    return *table;
}

Cycles distance(const DramSpec& spec, Scope scope, Command preceding, Command following) {
    return min_distance(table_of(spec), spec.timing, scope, preceding, following);
}

Command column_command(Direction direction) {
    return direction == Direction::Read ? Command::Read : Command::Write;
}

}  // namespace

PseudoChannel::Stats& PseudoChannel::Stats::operator+=(const Stats& other) {
    read_bursts += other.read_bursts;
    write_bursts += other.write_bursts;
    activates += other.activates;
    precharges += other.precharges;
    refreshes += other.refreshes;
    bank_refreshes += other.bank_refreshes;
    bus_busy += other.bus_busy;
    return *this;
}

PseudoChannel::PseudoChannel(const DramSpec& spec, const AddressMap& map, Cycles first_refresh)
    : policy_(spec.writes),
      patience_(spec.patience),
      groups_(spec.bank_groups),
      banks_per_group_(spec.banks_per_group),
      refresh_interval_(spec.timing.at("REFI")),
      burst_(spec.timing.at("BL")),
      ccd_short_{distance(spec, Scope::PseudoChannel, Command::Read, Command::Read),
                 distance(spec, Scope::PseudoChannel, Command::Write, Command::Write)},
      ccd_long_{distance(spec, Scope::Bank, Command::Read, Command::Read),
                distance(spec, Scope::Bank, Command::Write, Command::Write)},
      latency_{Cycles(spec.timing.at("CL")) + burst_, Cycles(spec.timing.at("CWL")) + burst_},
      activation_{distance(spec, Scope::Bank, Command::Act, Command::Read),
                  distance(spec, Scope::Bank, Command::Act, Command::Write)},
      columns_delay_rows_(distance(spec, Scope::Channel, Command::Read, Command::Act) > Cycles() ||
                          distance(spec, Scope::Channel, Command::Read, Command::Pre) > Cycles()),
      timing_(spec),
      queues_{RunQueue(map, spec.banks(), spec.queue), RunQueue(map, spec.banks(), spec.queue)},
      rows_(static_cast<std::size_t>(spec.banks()), RunQueue::kNoRow),
      refresh_due_(spec.refresh != RefreshPolicy::Off ? first_refresh : Cycles::max()) {}

void PseudoChannel::push(std::int64_t request, std::int64_t first, std::int64_t count, Direction direction,
                         Cycles now) {
    fix_until(now);
    queues_[static_cast<std::size_t>(direction)].push(request, first, count);
    change_ = std::min(change_, now);
}

void PseudoChannel::advance(Cycles now, std::vector<Completion>& done) {
    fix_until(now);
    auto end = finished_.begin();
    while (end != finished_.end() && end->clock <= now) ++end;
    done.insert(done.end(), finished_.begin(), end);
    finished_.erase(finished_.begin(), end);
}

/// Gives every command before `until`, in the order of time; at one clock: changes of the window, then
/// refresh, column, row.
void PseudoChannel::fix_until(Cycles until) {
    for (;;) {
        const Choice column = best_column();
        if (!row_is_known()) remember_row();
        const Choice& row = row_;
        const Cycles next = std::min({column.when, row.when, refresh_due_});
        if (change_ <= next) {
            if (change_ >= until) break;
            begin_clock();
        } else if (next >= until) {
            break;
        } else if (refresh_due_ == next) {
            refresh();
        } else if (column.when == next) {
            if (row.when == Cycles::max() && stream(column, until)) continue;
            give_column(column);
        } else {
            give_row(row);
        }
    }
    now_ = std::max(now_, until);
}

void PseudoChannel::begin_clock() {
    now_ = std::max(now_, change_);
    change_ = Cycles::max();
    for (RunQueue& queue : queues_) queue.admit();
    choose_direction();
}

/// Reads go first; the bus turns to writes when they fill their queue, when no read waits, or when they have
/// been passed by for too long, and back when few are left.
void PseudoChannel::choose_direction() {
    const std::int64_t reads = queue(Direction::Read).visible(), writes = queue(Direction::Write).visible();
    if (active_ == Direction::Read) {
        const bool starved = passed_by_ >= patience_;
        if (writes == 0 || (reads > 0 && writes < policy_.high && !starved)) return;
        active_ = Direction::Write;
        row_valid_ = false;
        write_floor_ = reads > 0 && writes <= policy_.low ? 0 : policy_.low;
    } else if (writes == 0 || (reads > 0 && writes <= write_floor_)) {
        active_ = Direction::Read;
        row_valid_ = false;
        passed_by_ = 0;
    }
}

PseudoChannel::Choice PseudoChannel::best_column() const {
    Choice best;
    best.command = column_command(active_);
    for (std::uint64_t banks = active().hits(); banks != 0; banks &= banks - 1) {
        const int bank = std::countr_zero(banks);
        const Cycles when = std::max(timing_.earliest(best.command, bank), now_);
        if (when > best.when) continue;
        const std::int64_t age = active().oldest_hit(bank);
        if (when == best.when && age > best.age) continue;
        best.when = when, best.age = age, best.bank = bank;
    }
    return best;
}

bool PseudoChannel::row_is_known() const {
    return row_valid_ && row_misses_ == active().misses() && row_.when >= now_;
}

/// The best row command stays the best as long as the same banks want one, none of them was given a command,
/// and its time has not passed.
void PseudoChannel::remember_row() {
    row_ = best_row();
    row_misses_ = active().misses();
    row_valid_ = true;
}

PseudoChannel::Choice PseudoChannel::best_row() const {
    Choice best;
    for (std::uint64_t banks = active().misses(); banks != 0; banks &= banks - 1) {
        const int bank = std::countr_zero(banks);
        const bool open = rows_[static_cast<std::size_t>(bank)] != RunQueue::kNoRow;
        const Command command = open ? Command::Pre : Command::Act;
        const Cycles when = std::max(timing_.earliest(command, bank), now_);
        if (when > best.when) continue;
        const std::int64_t age = active().oldest(bank);
        if (when == best.when && age > best.age) continue;
        best = {when, age, bank, command};
    }
    return best;
}

void PseudoChannel::give(Command command, int bank, std::int64_t row, Cycles clock) {
    timing_.issue(command, bank, clock);
    if (listener_) listener_(command, bank, row, clock);
}

void PseudoChannel::give_column(const Choice& choice) {
    now_ = choice.when;
    give(choice.command, choice.bank, rows_[static_cast<std::size_t>(choice.bank)], now_);
    const RunQueue::Served served = active().serve(choice.bank);
    if (served.last) finish(served.id, now_ + of(latency_, active_));
    stats_.bus_busy += burst_;
    ++(active_ == Direction::Read ? stats_.read_bursts : stats_.write_bursts);
    if (active_ == Direction::Read && queue(Direction::Write).visible() > 0) ++passed_by_;
    change_ = now_ + Cycles(1);
    row_valid_ = row_valid_ && !columns_delay_rows_;
}

void PseudoChannel::give_row(const Choice choice) {
    now_ = choice.when;
    row_valid_ = false;
    const bool activate = choice.command == Command::Act;
    const std::int64_t row = activate ? active().oldest_row(choice.bank) : RunQueue::kNoRow;
    std::int64_t& open_row = rows_[static_cast<std::size_t>(choice.bank)];
    give(choice.command, choice.bank, activate ? row : open_row, now_);
    ++(activate ? stats_.activates : stats_.precharges);
    open_row = row;
    for (RunQueue& queue : queues_) queue.set_row(choice.bank, row);
}

/// All banks are closed and refreshed; from its due time on nothing else is given, so nothing that arrives
/// meanwhile can change it.
void PseudoChannel::refresh() {
    now_ = std::max(refresh_due_, now_);
    row_valid_ = false;
    bool open = false;
    for (std::size_t bank = 0; bank < rows_.size(); ++bank) {
        if (rows_[bank] == RunQueue::kNoRow) continue;
        open = true;
        rows_[bank] = RunQueue::kNoRow;
        for (RunQueue& queue : queues_) queue.set_row(static_cast<int>(bank), RunQueue::kNoRow);
        ++stats_.precharges;
    }
    if (open) {
        now_ = std::max(now_, timing_.earliest_anywhere(Command::PreAll));
        give(Command::PreAll, 0, RunQueue::kNoRow, now_);
    }
    now_ = std::max(now_, timing_.earliest_anywhere(Command::Refresh));
    give(Command::Refresh, 0, RunQueue::kNoRow, now_);
    ++stats_.refreshes;
    refresh_due_ += refresh_interval_;
}

void PseudoChannel::finish(std::int64_t request, Cycles clock) {
    const auto later = std::upper_bound(finished_.begin(), finished_.end(), clock,
                                        [](Cycles c, const Completion& other) { return c < other.clock; });
    finished_.insert(later, {request, clock});
}

/// No column is given before this clock.
Cycles PseudoChannel::column_bound() const {
    Cycles bound = best_column().when;
    // Whatever row command comes first, a column of another row still needs an ACT of its own.
    const Choice row = row_is_known() ? row_ : best_row();
    if (row.when != Cycles::max()) bound = std::min(bound, row.when + of(activation_, active_));
    if (change_ == Cycles::max()) return bound;
    const Cycles any =
        std::min(timing_.earliest_anywhere(Command::Read), timing_.earliest_anywhere(Command::Write));
    return std::min(bound, std::max({change_, now_, any}));
}

Cycles PseudoChannel::next_event() const {
    Cycles next = finished_.empty() ? Cycles::max() : finished_.front().clock;
    if (queues_[0].empty() && queues_[1].empty()) return next;
    const Cycles column = column_bound();
    for (const Direction direction : {Direction::Read, Direction::Write}) {
        if (queue(direction).empty()) continue;
        const Cycles rest = of(ccd_short_, direction) * (queue(direction).least_remaining() - 1);
        next = std::min(next, column + rest + of(latency_, direction));
    }
    return next;
}

Cycles PseudoChannel::next_door_event(Direction direction) const {
    if (at_door(direction) == 0) return Cycles::max();
    const std::int64_t entering = queue(direction).until_door_moves();
    return column_bound() + of(ccd_short_, direction) * (entering - 1) + Cycles(1);
}

}  // namespace systole
