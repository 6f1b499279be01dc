// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/memory/slow_channel.h"

#include <algorithm>

#include "models/memory/address_map.h"

namespace systole::test {
namespace {

bool contains(const std::vector<Command>& commands, Command command) {
    return std::find(commands.begin(), commands.end(), command) != commands.end();
}

}  // namespace

TableJudge::TableJudge(const DramSpec& spec) : banks_per_group_(spec.banks_per_group) {
    for (const ConstraintRow& row : find_constraint_table(spec.standard)->rows) {
        rows_.push_back({row, evaluate_latency(row.latency, spec.timing).value()});
        horizon_ = std::max(horizon_, rows_.back().latency);
    }
}

bool TableJudge::same_node(Scope scope, int a, int b) const {
    if (scope == Scope::Bank) return a == b;
    return scope >= Scope::PseudoChannel || a / banks_per_group_ == b / banks_per_group_;
}

bool TableJudge::allows(Command command, int bank, std::int64_t clock) const {
    for (const Row& rule : rows_) {
        if (!contains(rule.row.following, command)) continue;
        int seen = 0;
        for (auto before = history_.rbegin(); before != history_.rend(); ++before) {
            if (before->clock + horizon_ < clock) break;
            if (!contains(rule.row.preceding, before->command)) continue;
            if (!same_node(rule.row.scope, before->bank, bank)) continue;
            if (++seen < rule.row.window) continue;
            if (clock < before->clock + rule.latency) return false;
            break;
        }
    }
    return true;
}

SlowChannel::SlowChannel(const DramSpec& spec, std::int64_t first_refresh)
    : spec_(spec), judge_(spec), open_(static_cast<std::size_t>(spec.banks()), -1), due_(first_refresh) {}

SlowChannel::Burst SlowChannel::decode(std::int64_t id, std::int64_t local) const {
    std::int64_t value[5] = {}, taken[5] = {};
    const auto fields = parse_address_map(spec_.address_map);
    for (const AddressField& field : *fields) {
        if (field.kind == AddressField::Kind::Channel) continue;
        const auto kind = static_cast<std::size_t>(field.kind);
        for (int i = 0; i < field.bits; ++i, local >>= 1) value[kind] |= (local & 1) << taken[kind]++;
    }
    const std::int64_t bank = value[1] * spec_.banks_per_group + value[2];
    return {id, static_cast<int>(bank), value[3]};
}

void SlowChannel::arrive(const Arrival& arrival) {
    left_[arrival.id] += arrival.count;
    for (std::int64_t i = 0; i < arrival.count; ++i)
        door_[static_cast<int>(arrival.direction)].push_back(decode(arrival.id, arrival.first + i));
}

void SlowChannel::admit() {
    for (int d = 0; d < 2; ++d) {
        while (!door_[d].empty() && window_[d].size() < static_cast<std::size_t>(spec_.queue)) {
            window_[d].push_back(door_[d].front());
            door_[d].pop_front();
        }
    }
}

void SlowChannel::turn() {
    const int reads = static_cast<int>(window_[0].size()), writes = static_cast<int>(window_[1].size());
    if (!writing_ && writes > 0) {
        const bool full = writes >= spec_.writes.high, starved = passed_ >= spec_.patience;
        if (reads == 0 || full || starved) {
            writing_ = true;
            floor_ = reads > 0 && writes <= spec_.writes.low ? 0 : spec_.writes.low;
        }
    } else if (writing_ && (writes == 0 || (reads > 0 && writes <= floor_))) {
        writing_ = false;
        passed_ = 0;
    }
}

bool SlowChannel::try_give(Command command, int bank, std::int64_t clock) {
    if (!judge_.allows(command, bank, clock)) return false;
    const GivenCommand given{command, bank, clock};
    judge_.record(given);
    commands_.push_back(given);
    return true;
}

/// True while a refresh keeps everything else waiting.
bool SlowChannel::refresh(std::int64_t clock) {
    if (spec_.refresh == RefreshPolicy::Off || (!refreshing_ && clock < due_)) return false;
    refreshing_ = true;
    const bool any_open = std::any_of(open_.begin(), open_.end(), [](std::int64_t row) { return row >= 0; });
    if (any_open && try_give(Command::PreAll, 0, clock)) {
        std::fill(open_.begin(), open_.end(), -1);
    } else if (!any_open && try_give(Command::Refresh, 0, clock)) {
        refreshing_ = false;
        due_ += spec_.timing.at("REFI");
    }
    return true;
}

void SlowChannel::column(std::int64_t clock) {
    std::vector<Burst>& window = window_[writing_];
    for (auto burst = window.begin(); burst != window.end(); ++burst) {
        if (open_[static_cast<std::size_t>(burst->bank)] != burst->row) continue;
        if (!try_give(writing_ ? Command::Write : Command::Read, burst->bank, clock)) continue;
        const std::int64_t latency = spec_.timing.at(writing_ ? "CWL" : "CL") + spec_.timing.at("BL");
        if (--left_[burst->id] == 0) done_[burst->id] = clock + latency;
        if (!writing_ && !window_[1].empty()) ++passed_;
        window.erase(burst);
        return;
    }
}

void SlowChannel::row(std::int64_t clock) {
    const std::vector<Burst>& window = window_[writing_];
    std::vector<bool> decided(open_.size(), false);
    for (const Burst& burst : window)
        if (open_[static_cast<std::size_t>(burst.bank)] == burst.row)
            decided[static_cast<std::size_t>(burst.bank)] = true;
    for (const Burst& burst : window) {
        const auto bank = static_cast<std::size_t>(burst.bank);
        if (decided[bank]) continue;
        decided[bank] = true;
        const bool close = open_[bank] >= 0;
        if (!try_give(close ? Command::Pre : Command::Act, burst.bank, clock)) continue;
        open_[bank] = close ? -1 : burst.row;
        return;
    }
}

std::map<std::int64_t, std::int64_t> SlowChannel::run(std::deque<Arrival> arrivals) {
    const std::size_t requests = [&] {
        std::map<std::int64_t, int> ids;
        for (const Arrival& arrival : arrivals) ids[arrival.id] = 1;
        return ids.size();
    }();
    for (std::int64_t clock = 0; !arrivals.empty() || done_.size() < requests; ++clock) {
        for (; !arrivals.empty() && arrivals.front().clock == clock; arrivals.pop_front())
            arrive(arrivals.front());
        admit();
        turn();
        if (refresh(clock)) continue;
        column(clock);
        row(clock);
    }
    return done_;
}

}  // namespace systole::test
