// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/bus_queues.h"

#include <algorithm>

namespace systole {

BusQueues::BusQueues(DramSystem& memory, RequestSource& source, Flights& flights, std::int64_t sends,
                     std::int64_t lookahead)
    : memory_(memory),
      source_(source),
      flights_(flights),
      sends_(sends),
      lookahead_(lookahead),
      queues_(static_cast<std::size_t>(memory.buses())) {}

void BusQueues::play() {
    for (int bus = 0; bus < memory_.buses(); ++bus) read_ahead(bus, Cycles());
    while (waiting_ > 0) {
        Cycles now = earliest();
        if (flights_.limited()) now = flights_.wait_for_window(now);
        try_all(now);
        for (int bus = 0; bus < memory_.buses(); ++bus)  // where the look-ahead was used up
            if (queue(bus).waiting.empty()) read_ahead(bus, now + Cycles(1));
    }
}

Cycles BusQueues::earliest() const {
    Cycles first = Cycles::max();
    for (const Queue& queue : queues_) first = std::min(first, queue.next);
    return first;
}

void BusQueues::try_all(Cycles now) {
    const int each = memory_.spec().pseudo_channels;
    const bool backwards = now.value() % 2 != 0;
    for (int channel = 0; channel < memory_.channels(); ++channel)
        for (int i = 0; i < each; ++i) {
            const int bus = channel * each + (backwards ? each - 1 - i : i);
            if (queue(bus).next <= now) try_queue(bus, now);
        }
    wait_refused(now);
}

/// Sends what can be sent at `now`, and finds out when to try again.
void BusQueues::try_queue(int bus, Cycles now) {
    Queue& queue = this->queue(bus);
    queue.next = Cycles::max();
    for (std::int64_t sent = 0; !queue.waiting.empty(); ++sent) {
        const Waiting head = queue.waiting.front();
        queue.next = std::max(head.clock, now + Cycles(1));
        if (head.clock > now || sent == sends_ || !flights_.window_is_open(now)) return;
        queue.refused = !memory_.has_room(bus, head.direction, now);
        if (queue.refused) return;
        flights_.send(head.place, head.index, head.direction, now);
        queue.waiting.pop_front();
        --waiting_;
        if (queue.waiting.empty()) read_ahead(bus, now);
        if (queue.waiting.empty()) queue.next = Cycles::max();
    }
}

/// Once all that comes at `now` has come, those that found no room ask when there will be.
void BusQueues::wait_refused(Cycles now) {
    for (int bus = 0; bus < memory_.buses(); ++bus) {
        Queue& queue = this->queue(bus);
        if (!queue.refused) continue;
        queue.refused = false;
        const Cycles limit = known_until(bus, now);
        if (limit > queue.next)
            queue.next = memory_.wait_for_room(bus, queue.waiting.front().direction, queue.next, limit);
    }
}

/// No other queue sends to the channel of `bus` before that clock; with a limit of outstanding requests, none
/// sends to any, so that all channels stay at one time. An empty queue may be filled at any time.
Cycles BusQueues::known_until(int bus, Cycles now) const {
    const int each = memory_.spec().pseudo_channels;
    const int first = flights_.limited() ? 0 : bus / each * each;
    const int end = flights_.limited() ? memory_.buses() : first + each;
    Cycles until = Cycles::max();
    for (int other = first; other < end; ++other) {
        if (other == bus) continue;
        const Queue& queue = queues_[static_cast<std::size_t>(other)];
        until = std::min(until, queue.waiting.empty() && !ended_ ? now : queue.next);
    }
    return until;
}

/// Reads until the queue of `bus` has a request, if any is left; requests that other queues get on the way
/// come behind what these have. `now`: the first clock at which the new heads may be accepted.
void BusQueues::read_ahead(int bus, Cycles now) {
    MemoryRequest request;
    while (queue(bus).waiting.empty() && waiting_ < lookahead_ && !ended_) {
        if (!source_.next(request)) {
            ended_ = true;
            return;
        }
        const DramSystem::Place place = memory_.locate(request.address);
        Queue& target = queue(place.bus);
        if (target.waiting.empty()) target.next = std::max(request.clock, now);
        target.waiting.push_back({read_++, request.clock, request.direction, place});
        ++waiting_;
    }
}

}  // namespace systole
