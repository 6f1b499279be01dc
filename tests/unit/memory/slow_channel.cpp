// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/memory/slow_channel.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "sim/base/clock.h"

namespace systole::test {
namespace {

std::size_t at(Direction direction) {
    return static_cast<std::size_t>(direction);
}

}  // namespace

SlowChannel::SlowChannel(const DramSpec& spec, const AddressMap& map)
    : spec_(spec),
      map_(map),
      judge_(spec),
      buses_(static_cast<std::size_t>(spec.pseudo_channels)),
      blocked_(buses_.size()) {
    for (Bus& bus : buses_) bus.banks.resize(static_cast<std::size_t>(spec.banks()));
    if (spec.refresh == RefreshPolicy::Off) return;
    refresh_interval_ = spec.timing.at(spec.refresh == RefreshPolicy::AllBank ? "REFI" : "REFISB");
    const std::int64_t phase = ClockDomain(spec.clock).at_or_before(spec.refresh_phase).value();
    first_refresh_ = refresh_interval_ - phase % refresh_interval_;
}

const std::map<std::int64_t, std::int64_t>& SlowChannel::run(std::deque<Arrival> arrivals) {
    while (!arrivals.empty() || !idle()) {
        for (; !arrivals.empty() && arrivals.front().clock == now_; arrivals.pop_front())
            push(arrivals.front());
        step();
    }
    return done_;
}

void SlowChannel::push(const Arrival& arrival) {
    left_[arrival.id] += arrival.count;
    Bus& bus = buses_[static_cast<std::size_t>(arrival.pseudo_channel)];
    for (std::int64_t i = 0; i < arrival.count; ++i) {
        std::vector<RowRun> place;
        map_.cut(arrival.first + i, 1, place);
        bus.door[at(arrival.direction)].push_back(
            {pushed_++, arrival.id, arrival.direction, place.front().bank, place.front().row});
    }
}

bool SlowChannel::idle() const {
    return std::all_of(buses_.begin(), buses_.end(), [](const Bus& bus) {
        return bus.door[0].empty() && bus.door[1].empty() && bus.window[0].empty() && bus.window[1].empty();
    });
}

std::int64_t SlowChannel::room(int pseudo_channel, Direction direction) const {
    const Bus& bus = buses_[static_cast<std::size_t>(pseudo_channel)];
    if (!spec_.shared_queue) {
        const auto waiting =
            static_cast<std::int64_t>(bus.window[at(direction)].size() + bus.door[at(direction)].size());
        return std::max<std::int64_t>(spec_.queue - waiting, 0);
    }
    auto waiting = static_cast<std::int64_t>(in_windows(direction));
    for (const Bus& other : buses_) waiting += static_cast<std::int64_t>(other.door[at(direction)].size());
    return std::max<std::int64_t>(spec_.queue - waiting, bus.door[at(direction)].empty() ? 1 : 0);
}

std::int64_t SlowChannel::at_door(int pseudo_channel, Direction direction) const {
    const Bus& asked = buses_[static_cast<std::size_t>(pseudo_channel)];
    std::size_t used = spec_.shared_queue ? in_windows(direction) : asked.window[at(direction)].size();
    std::map<std::int64_t, const Burst*> waiting;  // by sequence number
    for (const Bus& bus : buses_)
        if (spec_.shared_queue || &bus == &asked)
            for (const Burst& burst : bus.door[at(direction)]) waiting[burst.sequence] = &burst;
    std::set<std::int64_t> requests;
    for (const Burst& burst : asked.door[at(direction)]) requests.insert(burst.id);
    std::set<std::int64_t> entering = requests;
    for (const auto& [sequence, burst] : waiting)
        if (used++ >= static_cast<std::size_t>(spec_.queue)) entering.erase(burst->id);
    return static_cast<std::int64_t>(requests.size() - entering.size());
}

void SlowChannel::step() {
    if (spec_.shared_queue)
        admit_shared();
    else
        for (Bus& bus : buses_) admit(bus);
    for (std::size_t i = 0; i < buses_.size(); ++i) {
        judge_urgency(buses_[i]);
        turn(buses_[i]);
        begin_refresh(static_cast<int>(i));
    }
    while (give_one()) continue;
    ++now_;
}

void SlowChannel::admit(Bus& bus) {
    for (std::size_t d = 0; d < 2; ++d) {
        while (!bus.door[d].empty() && bus.window[d].size() < static_cast<std::size_t>(spec_.queue)) {
            bus.window[d].push_back(bus.door[d].front());
            bus.window[d].back().entered = now_;
            bus.door[d].pop_front();
        }
    }
}

/// A free entry goes to the burst that has waited longest, whatever its pseudo-channel.
void SlowChannel::admit_shared() {
    for (const Direction direction : {Direction::Read, Direction::Write}) {
        while (in_windows(direction) < static_cast<std::size_t>(spec_.queue)) {
            Bus* first = nullptr;
            for (Bus& bus : buses_) {
                const std::deque<Burst>& door = bus.door[at(direction)];
                if (door.empty()) continue;
                if (!first || door.front().sequence < first->door[at(direction)].front().sequence)
                    first = &bus;
            }
            if (!first) break;
            first->window[at(direction)].push_back(first->door[at(direction)].front());
            first->window[at(direction)].back().entered = now_;
            first->door[at(direction)].pop_front();
        }
    }
}

std::size_t SlowChannel::in_windows(Direction direction) const {
    std::size_t count = 0;
    for (const Bus& bus : buses_) count += bus.window[at(direction)].size();
    return count;
}

/// The oldest waiting burst is urgent once `patience` columns have passed it since it became the oldest.
void SlowChannel::judge_urgency(Bus& bus) {
    std::optional<std::int64_t> oldest;
    for (const auto& window : bus.window)
        if (!window.empty() && (!oldest || window.front().sequence < *oldest))
            oldest = window.front().sequence;
    if (oldest != bus.oldest) bus.passed = 0;
    bus.oldest = oldest;
    bus.urgent = oldest && bus.passed >= spec_.patience ? oldest : std::nullopt;
}

void SlowChannel::turn(Bus& bus) {
    const std::size_t reads = bus.window[0].size(), writes = bus.window[1].size();
    const Burst* forced = urgent(bus);
    if (forced && forced->direction == bus.active) return;
    if (forced &&
        (bus.banks[static_cast<std::size_t>(forced->bank)].row != forced->row || barred(bus, forced->bank)))
        forced = nullptr;  // its row is not open yet: until then the others go on
    const auto low = static_cast<std::size_t>(spec_.writes.low);
    if (bus.active == Direction::Read) {
        const std::size_t waiting = spec_.shared_queue ? in_windows(Direction::Write) : writes;
        const bool many = waiting >= static_cast<std::size_t>(spec_.writes.high);
        if (writes == 0 || (reads > 0 && !many && !forced)) return;
        bus.active = Direction::Write;
        bus.floor = reads > 0 && writes <= low ? 0 : spec_.writes.low;
        bus.last_write.reset();
    } else {
        const bool few = reads > 0 && writes <= static_cast<std::size_t>(bus.floor);
        if (writes > 0 && !forced && (!few || hits_to_write(bus))) return;
        bus.active = Direction::Read;
    }
    bus.active_since = now_;
}

/// Of the writes that waited when the bus was first to turn back some hit open rows, which reads would close.
bool SlowChannel::hits_to_write(Bus& bus) {
    const std::vector<Burst>& window = bus.window[1];
    if (!bus.last_write) bus.last_write = window.back().sequence;
    return std::any_of(window.begin(), window.end(), [&](const Burst& burst) {
        const Bank& bank = bus.banks[static_cast<std::size_t>(burst.bank)];
        return burst.sequence <= *bus.last_write && bank.row == burst.row && !capped(bank) &&
               !barred(bus, burst.bank);
    });
}

void SlowChannel::begin_refresh(int pseudo_channel) {
    Bus& bus = buses_[static_cast<std::size_t>(pseudo_channel)];
    if (spec_.refresh == RefreshPolicy::Off || bus.refreshing || now_ < first_refresh_) return;
    const std::int64_t owed = (now_ - first_refresh_) / refresh_interval_ + 1 - bus.refreshes;
    const bool nothing_waits = bus.window[0].empty() && bus.window[1].empty();
    if (owed <= spec_.refresh_postpone && !(owed > 0 && nothing_waits)) return;
    const bool all = spec_.refresh == RefreshPolicy::AllBank;
    bus.refreshing = all ? 0 : static_cast<int>(bus.refreshes % spec_.banks());
    blocked_[static_cast<std::size_t>(pseudo_channel)].push_back(
        {all ? kAll : *bus.refreshing, now_, INT64_MAX});
}

/// Gives the first candidate, by class and age, that the table allows at this clock.
bool SlowChannel::give_one() {
    std::vector<Candidate> found;
    for (int i = 0; i < spec_.pseudo_channels; ++i) {
        const Bus& bus = buses_[static_cast<std::size_t>(i)];
        refresh_candidates(i, found);
        if (bus.refreshing && spec_.refresh == RefreshPolicy::AllBank) continue;
        urgent_candidates(i, found);
        column_candidates(i, found);
        row_candidates(i, found);
    }
    std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
        return std::tie(a.order, a.age) < std::tie(b.order, b.age);
    });
    for (const Candidate& candidate : found) {
        if (!judge_.allows(candidate.command) || would_delay_refresh(candidate.command)) continue;
        give(candidate);
        return true;
    }
    return false;
}

void SlowChannel::give(const Candidate& choice) {
    const GivenCommand& given = choice.command;
    Bus& bus = buses_[static_cast<std::size_t>(given.pseudo_channel)];
    Bank& bank = bus.banks[static_cast<std::size_t>(given.bank)];
    judge_.record(given);
    if (is_column(given.command)) {
        serve(choice);
    } else if (given.command == Command::Act) {
        bank = {given.row, choice.burst->sequence, 0, commands().size() - 1};
    } else if (given.command == Command::Pre) {
        bank = {};
    } else if (given.command == Command::PreAll) {
        std::fill(bus.banks.begin(), bus.banks.end(), Bank{});
    } else {
        end_refresh(given);
    }
}

void SlowChannel::serve(const Candidate& choice) {
    const GivenCommand& given = choice.command;
    const Burst burst = *choice.burst;
    Bus& bus = buses_[static_cast<std::size_t>(given.pseudo_channel)];
    Bank& bank = bus.banks[static_cast<std::size_t>(given.bank)];
    std::vector<Burst>& window = bus.window[at(burst.direction)];
    served_.push_back({burst, given, commands().size() - 1, bank.activated,
                       burst.direction == bus.active ? bus.active_since : 0});
    for (const Burst& older : window) {
        if (older.sequence >= burst.sequence) break;
        if (older.bank != burst.bank || older.row == burst.row) continue;
        ++bank.over_older;
        break;
    }
    const std::int64_t latency =
        spec_.timing.at(burst.direction == Direction::Read ? "CL" : "CWL") + spec_.timing.at("BL");
    if (--left_[burst.id] == 0) done_[burst.id] = now_ + latency;
    if (bus.oldest != burst.sequence) ++bus.passed;
    if (bus.urgent == burst.sequence) bus.urgent.reset();
    if (bank.bound == burst.sequence) bank.bound.reset();
    if (given.command == Command::ReadAp || given.command == Command::WriteAp) bank = {};
    window.erase(std::find_if(window.begin(), window.end(),
                              [&](const Burst& other) { return other.sequence == burst.sequence; }));
}

void SlowChannel::end_refresh(const GivenCommand& given) {
    Bus& bus = buses_[static_cast<std::size_t>(given.pseudo_channel)];
    const Cycles closed = min_distance(*find_constraint_table(spec_.standard), spec_.timing, Scope::Bank,
                                       given.command, Command::Act);
    blocked_[static_cast<std::size_t>(given.pseudo_channel)].back().until = now_ + closed.value();
    bus.refreshing.reset();
    ++bus.refreshes;
}

}  // namespace systole::test
