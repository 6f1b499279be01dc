// SPDX-License-Identifier: Apache-2.0
// What the slow twin might give at this clock, before the table is asked.
#include <algorithm>

#include "tests/unit/memory/slow_channel.h"

namespace systole::test {
namespace {

std::size_t at(Direction direction) {
    return static_cast<std::size_t>(direction);
}

}  // namespace

const SlowChannel::Burst* SlowChannel::urgent(const Bus& bus) const {
    for (const auto& window : bus.window)
        if (bus.urgent && !window.empty() && window.front().sequence == *bus.urgent) return &window.front();
    return nullptr;
}

bool SlowChannel::reserved(const Bus& bus, int bank) const {
    const Burst* burst = urgent(bus);
    return barred(bus, bank) || (burst && burst->bank == bank);
}

bool SlowChannel::capped(const Bank& bank) const {
    return spec_.row_hit_cap > 0 && bank.over_older >= spec_.row_hit_cap;
}

bool SlowChannel::barred(const Bus& bus, int bank) const {
    return spec_.refresh == RefreshPolicy::PerBank && bus.refreshing == bank;
}

void SlowChannel::refresh_candidates(int pseudo_channel, std::vector<Candidate>& found) const {
    const Bus& bus = buses_[static_cast<std::size_t>(pseudo_channel)];
    if (!bus.refreshing) return;
    GivenCommand command{Command::Refresh, pseudo_channel, 0, 0, Cycles(now_)};
    if (spec_.refresh == RefreshPolicy::AllBank) {
        const bool any_open =
            std::any_of(bus.banks.begin(), bus.banks.end(), [](const Bank& bank) { return bank.row; });
        if (any_open) command.command = Command::PreAll;
    } else {
        const Bank& bank = bus.banks[static_cast<std::size_t>(*bus.refreshing)];
        command.command = bank.row ? Command::Pre : Command::RefreshBank;
        command.bank = *bus.refreshing;
        command.row = bank.row.value_or(0);
    }
    found.push_back({Class::Refresh, pseudo_channel, command, std::nullopt});
}

void SlowChannel::urgent_candidates(int pseudo_channel, std::vector<Candidate>& found) const {
    const Bus& bus = buses_[static_cast<std::size_t>(pseudo_channel)];
    const Burst* burst = urgent(bus);
    if (!burst || barred(bus, burst->bank)) return;
    if (bus.banks[static_cast<std::size_t>(burst->bank)].row == burst->row)
        found.push_back(column_of(pseudo_channel, *burst));
    else
        found.push_back(row_command_for(pseudo_channel, *burst));
}

void SlowChannel::column_candidates(int pseudo_channel, std::vector<Candidate>& found) const {
    const Bus& bus = buses_[static_cast<std::size_t>(pseudo_channel)];
    for (const auto& window : bus.window) {
        for (const Burst& burst : window) {
            const Bank& bank = bus.banks[static_cast<std::size_t>(burst.bank)];
            if (bank.row != burst.row || reserved(bus, burst.bank)) continue;
            const bool in_turn = burst.direction == bus.active && !capped(bank);
            if (in_turn || bank.bound == burst.sequence) found.push_back(column_of(pseudo_channel, burst));
        }
    }
}

/// An ACT of any bank counts against the REFSB that waits, and may come sooner: a stream of them would keep
/// it away for ever.
bool SlowChannel::would_delay_refresh(const GivenCommand& command) const {
    const Bus& bus = buses_[static_cast<std::size_t>(command.pseudo_channel)];
    if (command.command != Command::Act || spec_.refresh != RefreshPolicy::PerBank || !bus.refreshing ||
        bus.banks[static_cast<std::size_t>(*bus.refreshing)].row)
        return false;
    const Cycles apart = min_distance(*find_constraint_table(spec_.standard), spec_.timing,
                                      Scope::PseudoChannel, Command::Act, Command::RefreshBank);
    return judge_.allows(
        {Command::RefreshBank, command.pseudo_channel, *bus.refreshing, 0, Cycles(now_ - 1) + apart});
}

void SlowChannel::row_candidates(int pseudo_channel, std::vector<Candidate>& found) const {
    const Bus& bus = buses_[static_cast<std::size_t>(pseudo_channel)];
    const std::vector<Burst>& window = bus.window[at(bus.active)];
    std::vector<bool> decided(bus.banks.size(), false);
    for (std::size_t b = 0; b < bus.banks.size(); ++b)
        decided[b] = reserved(bus, static_cast<int>(b)) || bus.banks[b].bound;
    for (const Burst& burst : window) {
        const Bank& bank = bus.banks[static_cast<std::size_t>(burst.bank)];
        if (bank.row == burst.row && !capped(bank)) decided[static_cast<std::size_t>(burst.bank)] = true;
    }
    for (const Burst& burst : window) {
        if (decided[static_cast<std::size_t>(burst.bank)]) continue;
        decided[static_cast<std::size_t>(burst.bank)] = true;
        found.push_back(row_command_for(pseudo_channel, burst));
    }
}

SlowChannel::Candidate SlowChannel::column_of(int pseudo_channel, const Burst& burst) const {
    const Bus& bus = buses_[static_cast<std::size_t>(pseudo_channel)];
    bool same_row = false, other_row = false;
    for (const auto& window : bus.window) {
        for (const Burst& other : window) {
            if (other.sequence == burst.sequence || other.bank != burst.bank) continue;
            (other.row == burst.row ? same_row : other_row) = true;
        }
    }
    const bool close =
        !same_row && (spec_.page == PagePolicy::Closed || (spec_.page == PagePolicy::Adaptive && other_row));
    const bool read = burst.direction == Direction::Read;
    const Command command =
        read ? (close ? Command::ReadAp : Command::Read) : (close ? Command::WriteAp : Command::Write);
    return {
        Class::Column, burst.sequence, {command, pseudo_channel, burst.bank, burst.row, Cycles(now_)}, burst};
}

SlowChannel::Candidate SlowChannel::row_command_for(int pseudo_channel, const Burst& burst) const {
    const Bus& bus = buses_[static_cast<std::size_t>(pseudo_channel)];
    const Bank& bank = bus.banks[static_cast<std::size_t>(burst.bank)];
    const GivenCommand command{bank.row ? Command::Pre : Command::Act, pseudo_channel, burst.bank,
                               bank.row.value_or(burst.row), Cycles(now_)};
    return {Class::Row, burst.sequence, command, burst};
}

}  // namespace systole::test
