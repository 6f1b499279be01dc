// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_channel.h"

#include <algorithm>

#include "sim/base/clock.h"

namespace systole {
namespace {

/// The first refresh falls due so long after the last as an interval is.
Cycles first_refresh(const DramSpec& spec) {
    const std::int64_t interval = spec.timing.at("REFI");
    return Cycles(interval - ClockDomain(spec.clock).at_or_before(spec.refresh_phase).value() % interval);
}

}  // namespace

DramChannel::DramChannel(const DramSpec& spec, const AddressMap& map) {
    for (int bus = 0; bus < spec.pseudo_channels; ++bus) buses_.emplace_back(spec, map, first_refresh(spec));
}

void DramChannel::push(int pseudo_channel, std::int64_t request, std::int64_t first, std::int64_t count,
                       Direction direction, Cycles now) {
    buses_[index(pseudo_channel)].push(request, first, count, direction, now);
}

void DramChannel::advance(Cycles now, std::vector<Completion>& done) {
    const auto begin = static_cast<std::ptrdiff_t>(done.size());
    for (PseudoChannel& bus : buses_) bus.advance(now, done);
    if (buses_.size() > 1)
        std::stable_sort(done.begin() + begin, done.end(),
                         [](const Completion& a, const Completion& b) { return a.clock < b.clock; });
}

void DramChannel::settle(Cycles now) {
    for (PseudoChannel& bus : buses_) bus.settle(now);
}

Cycles DramChannel::next_event() const {
    Cycles next = Cycles::max();
    for (const PseudoChannel& bus : buses_) next = std::min(next, bus.next_event());
    return next;
}

std::int64_t DramChannel::at_door(int pseudo_channel, Direction direction) const {
    return buses_[index(pseudo_channel)].at_door(direction);
}

Cycles DramChannel::next_door_event(int pseudo_channel, Direction direction) const {
    return buses_[index(pseudo_channel)].next_door_event(direction);
}

bool DramChannel::has_room(int pseudo_channel, Direction direction, Cycles now) {
    settle(now);
    return buses_[index(pseudo_channel)].room(direction) > 0;
}

Cycles DramChannel::wait_for_room(int pseudo_channel, Direction direction, Cycles now, Cycles limit) {
    PseudoChannel& bus = buses_[index(pseudo_channel)];
    for (bus.settle(now); now < limit && bus.room(direction) == 0; bus.settle(now)) now += Cycles(1);
    return now;
}

bool DramChannel::idle() const {
    return std::all_of(buses_.begin(), buses_.end(), [](const PseudoChannel& bus) { return bus.idle(); });
}

BusAccount DramChannel::account(int pseudo_channel, Cycles now) const {
    BusAccount account;
    account[BusTime::Transfer] = stats(pseudo_channel).bus_busy.value();
    account[BusTime::EmptyQueue] = now.value() - account[BusTime::Transfer];
    return account;
}

void DramChannel::listen(Listener listener) {
    for (std::size_t i = 0; i < buses_.size(); ++i)
        buses_[i].listen([listener, i](Command command, int bank, std::int64_t row, Cycles clock) {
            listener({command, static_cast<int>(i), bank, row, clock});
        });
}

}  // namespace systole
