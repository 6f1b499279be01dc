// SPDX-License-Identifier: Apache-2.0
// Plays requests against a DRAM as a clocked master would: at every clock it first sends what the order, the
// requests' clocks, the limit of outstanding requests and the room in the controller's windows allow, then
// the controller decides, then completions are collected. Driven by events: clocks at which nothing can be
// sent cost nothing, and the result is that of a loop over all clocks.
#pragma once

#include <cstdint>

#include "models/memory/dram_system.h"
#include "models/traffic/flights.h"
#include "models/traffic/request_source.h"

namespace systole {

struct DriveOptions {
    enum class Order : std::uint8_t {
        /// One queue of all requests, in order; sending stops at the first that is refused.
        Fifo,
        /// A queue for each data bus, in order. Queues send in the order of their numbers; at odd clocks the
        /// second pseudo-channel of every channel comes before its first.
        PerBus
    };
    Order order = Order::Fifo;
    /// The most that a queue sends at one clock; 0: Fifo one for each data bus, PerBus one.
    std::int64_t sends_per_clock = 0;
    std::int64_t window = 0;  ///< the most requests outstanding; 0: any number
    /// PerBus: so many requests may wait in all queues together; what lies behind in the source is not seen.
    std::int64_t lookahead = std::int64_t{1} << 20;
};

/// `options.sends_per_clock` or the default that stands for 0.
std::int64_t sends_per_clock(const DriveOptions& options, const DramSystem& memory);

/// Plays all of `source` against `memory`, which must be fresh and is then settled up to the clock at which
/// the last request is done. Throws what the source throws.
DriveResult drive(DramSystem& memory, RequestSource& source, const DriveOptions& options,
                  Flights::Listener listener = {});

}  // namespace systole
