// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_channel.h"

#include <algorithm>

namespace systole {

DramChannel::DramChannel(const DramSpec& spec, const AddressMap& map) : command_bus_(spec) {
    for (int number = 0; number < spec.pseudo_channels; ++number) buses_.emplace_back(spec, map, number);
}

void DramChannel::push(int pseudo_channel, std::int64_t request, std::int64_t first, std::int64_t count,
                       Direction direction, Cycles now) {
    fix_until(now);
    buses_[index(pseudo_channel)].push(request, first, count, direction, sequence_, command_bus_, now);
    sequence_ += count;
}

/// Does what comes next, of all pseudo-channels, if it comes before `until`.
bool DramChannel::step(Cycles until) {
    PseudoChannel* bus = &buses_.front();
    Choice next = bus->next(command_bus_, now_);
    for (std::size_t i = 1; i < buses_.size(); ++i) {
        const Choice choice = buses_[i].next(command_bus_, now_);
        if (!choice.before(next)) continue;
        next = choice;
        bus = &buses_[i];
    }
    if (next.when >= until) return false;
    now_ = next.when;
    const std::int64_t row = bus->take(next, command_bus_);
    if (next.kind == Choice::Kind::Change) return true;
    command_bus_.take(next.command, now_);
    if (listener_) listener_({next.command, static_cast<int>(bus - buses_.data()), next.bank, row, now_});
    return true;
}

void DramChannel::fix_until(Cycles until) {
    if (until <= fixed_) return;
    while (step(until)) {
    }
    now_ = fixed_ = until;
}

void DramChannel::advance(Cycles now, std::vector<Completion>& done) {
    fix_until(now);
    const auto begin = static_cast<std::ptrdiff_t>(done.size());
    for (PseudoChannel& bus : buses_) bus.collect(now, done);
    if (buses_.size() > 1 && done.size() > static_cast<std::size_t>(begin) + 1)
        std::stable_sort(done.begin() + begin, done.end(),
                         [](const Completion& a, const Completion& b) { return a.clock < b.clock; });
}

void DramChannel::settle(Cycles now) {
    fix_until(now);
}

Cycles DramChannel::next_event() const {
    Cycles next = Cycles::max();
    for (const PseudoChannel& bus : buses_) next = std::min(next, bus.completion_bound(command_bus_, now_));
    return next;
}

std::int64_t DramChannel::at_door(int pseudo_channel, Direction direction) const {
    return buses_[index(pseudo_channel)].at_door(direction);
}

Cycles DramChannel::next_door_event(int pseudo_channel, Direction direction) const {
    return buses_[index(pseudo_channel)].door_bound(direction, command_bus_, now_);
}

Cycles DramChannel::wait_for_room(int pseudo_channel, Direction direction, Cycles now, Cycles limit) {
    fix_until(now);
    const PseudoChannel& bus = buses_[index(pseudo_channel)];
    if (bus.room(direction) > 0) return now;
    while (bus.room(direction) <= 0 && step(limit)) {
    }
    // An entry that a column frees at one clock can be filled at the next.
    const Cycles found = bus.room(direction) > 0 ? std::min(now_ + Cycles(1), limit) : limit;
    fix_until(found);
    return found;
}

bool DramChannel::idle() const {
    return std::all_of(buses_.begin(), buses_.end(), [](const PseudoChannel& bus) { return bus.idle(); });
}

BusAccount DramChannel::account(int pseudo_channel, Cycles now) const {
    return buses_[index(pseudo_channel)].account(now);
}

}  // namespace systole
