// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/flights.h"

#include <algorithm>
#include <utility>

namespace systole {
namespace {

/// Without a window, completions are collected after so many requests to a channel: a matter of memory only.
constexpr std::int64_t kCollectEvery = 64;

}  // namespace

Flights::Flights(DramSystem& memory, std::int64_t window, Listener listener)
    : memory_(memory),
      window_(window),
      listener_(std::move(listener)),
      uncollected_(static_cast<std::size_t>(memory.channels())) {}

void Flights::send(DramSystem::Place place, std::int64_t index, Direction direction, Cycles now) {
    if (free_.empty()) {
        free_.push_back(flights_.size());
        flights_.emplace_back();
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    flights_[slot] = {index, direction, now};
    ++outstanding_;
    memory_.push(place, static_cast<std::int64_t>(slot), direction, now);
    const int channel = memory_.channel_of(place.bus);
    if (window_ == 0 && ++uncollected_[static_cast<std::size_t>(channel)] == kCollectEvery)
        collect(channel, now);
}

Cycles Flights::wait_for_window(Cycles now) {
    for (collect_all(now); full(); collect_all(now)) {
        if (held_ > 0) {
            now += Cycles(1);
            continue;
        }
        Cycles when = Cycles::max();
        for (int channel = 0; channel < memory_.channels(); ++channel)
            when = std::min(when, memory_.channel(channel).next_event());
        now = when;
    }
    return now;
}

/// Learns what was done up to `now`; only a full window needs to know.
void Flights::collect_all(Cycles now) {
    if (!full() || now <= collected_) return;
    collected_ = now;
    held_ = 0;
    for (int channel = 0; channel < memory_.channels(); ++channel) collect(channel, now);
}

void Flights::collect(int channel, Cycles until) {
    uncollected_[static_cast<std::size_t>(channel)] = 0;
    memory_.channel(channel).advance(until, done_);
    for (const DramChannel::Completion& completion : done_) land(completion);
    done_.clear();
}

void Flights::land(const DramChannel::Completion& completion) {
    const auto slot = static_cast<std::size_t>(completion.request);
    const Flight& flight = flights_[slot];
    const bool read = flight.direction == Direction::Read;
    (read ? result_.reads : result_.writes) += 1;
    (read ? result_.read_latency : result_.write_latency).add(completion.clock - flight.accepted);
    result_.cycles = std::max(result_.cycles, completion.clock);
    if (listener_) listener_({flight.index, flight.direction, flight.accepted, completion.clock});
    free_.push_back(slot);
    --outstanding_;
    if (completion.clock == collected_) ++held_;
}

DriveResult Flights::finish() {
    for (int channel = 0; channel < memory_.channels(); ++channel)
        while (!memory_.channel(channel).idle()) collect(channel, memory_.channel(channel).next_event());
    for (int channel = 0; channel < memory_.channels(); ++channel)
        memory_.channel(channel).settle(result_.cycles);
    return std::move(result_);
}

}  // namespace systole
