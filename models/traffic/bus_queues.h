// SPDX-License-Identifier: Apache-2.0
// The order of requests in which every data bus has a queue of its own: a request waits only for those before
// it on the same bus.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/memory/dram_system.h"
#include "models/traffic/flights.h"
#include "models/traffic/request_source.h"

namespace systole {

class BusQueues {
public:
    /// At most `sends` requests of a queue at one clock, and at most `lookahead` waiting in all queues.
    BusQueues(DramSystem& memory, RequestSource& source, Flights& flights, std::int64_t sends,
              std::int64_t lookahead);

    /// Sends all requests of the source.
    void play();

private:
    struct Waiting {
        std::int64_t index;
        Cycles clock;
        Direction direction;
        DramSystem::Place place;
    };
    struct Queue {
        std::deque<Waiting> waiting;
        Cycles next = Cycles::max();  // the first clock at which its head may be accepted
        bool refused = false;         // at this clock, because there was no room
    };

    Queue& queue(int bus) { return queues_[static_cast<std::size_t>(bus)]; }
    Cycles earliest() const;
    void try_all(Cycles now);
    void try_queue(int bus, Cycles now);
    void wait_refused(Cycles now);
    Cycles known_until(int bus, Cycles now) const;
    void read_ahead(int bus, Cycles now);

    DramSystem& memory_;
    RequestSource& source_;
    Flights& flights_;
    const std::int64_t sends_, lookahead_;
    std::vector<Queue> queues_;  // by data bus
    std::int64_t read_ = 0, waiting_ = 0;
    bool ended_ = false;  // the source
};

}  // namespace systole
