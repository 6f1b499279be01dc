// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/traffic_driver.h"

#include <algorithm>
#include <utility>

#include "models/traffic/bus_queues.h"

namespace systole {
namespace {

void play_in_order(DramSystem& memory, RequestSource& source, std::int64_t sends, Flights& flights) {
    MemoryRequest request;
    Cycles now;
    std::int64_t sent = 0;  // at `now`
    for (std::int64_t index = 0; source.next(request); ++index) {
        Cycles when = std::max(request.clock, sent < sends ? now : now + Cycles(1));
        if (flights.limited()) when = flights.wait_for_window(when);
        const DramSystem::Place place = memory.locate(request.address);
        when = memory.wait_for_room(place.bus, request.direction, when, Cycles::max());
        flights.send(place, index, request.direction, when);
        sent = when == now ? sent + 1 : 1;
        now = when;
    }
}

}  // namespace

std::int64_t sends_per_clock(const DriveOptions& options, const DramSystem& memory) {
    if (options.sends_per_clock > 0) return options.sends_per_clock;
    return options.order == DriveOptions::Order::Fifo ? memory.buses() : 1;
}

DriveResult drive(DramSystem& memory, RequestSource& source, const DriveOptions& options,
                  Flights::Listener listener) {
    Flights flights(memory, options.window, std::move(listener));
    const std::int64_t sends = sends_per_clock(options, memory);
    if (options.order == DriveOptions::Order::Fifo)
        play_in_order(memory, source, sends, flights);
    else
        BusQueues(memory, source, flights, sends, options.lookahead).play();
    return flights.finish();
}

}  // namespace systole
