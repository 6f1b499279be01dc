// SPDX-License-Identifier: Apache-2.0
// The requests that a memory has accepted and not yet served: who they are, how long they take, and how many
// there may be at once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/memory/dram_system.h"
#include "models/traffic/latency_log.h"
#include "models/traffic/request_source.h"

namespace systole {

/// A request that was accepted at one clock and done (its last data on the bus) at another.
struct Served {
    std::int64_t index;  ///< among all, in the order of the source
    Direction direction;
    Cycles accepted, done;
};

struct DriveResult {
    Cycles cycles;  ///< the clock at which the last request was done
    std::int64_t reads = 0, writes = 0;
    LatencyLog read_latency, write_latency;  ///< from accepted to done
    std::int64_t requests() const { return reads + writes; }
};

class Flights {
public:
    /// Sees every request when it is known to be done; those of one data bus in the order of time.
    using Listener = std::function<void(const Served&)>;

    /// `window`: the most requests outstanding, 0 for any number.
    Flights(DramSystem& memory, std::int64_t window, Listener listener);

    /// The memory accepts request `index` at `now`; it must have room.
    void send(DramSystem::Place place, std::int64_t index, Direction direction, Cycles now);

    /// The first clock, at or after `now`, at which fewer than `window` requests are outstanding; a request
    /// counts up to the clock at which it is done. Nothing may have been done in the memory after `now`.
    Cycles wait_for_window(Cycles now);
    bool window_is_open(Cycles now) {
        collect_all(now);
        return !full();
    }
    bool limited() const { return window_ > 0; }

    /// Waits for all that is outstanding; the memory is then settled up to the last clock.
    DriveResult finish();

private:
    struct Flight {
        std::int64_t index = 0;
        Direction direction = Direction::Read;
        Cycles accepted;
    };

    bool full() const { return window_ > 0 && outstanding_ + held_ >= window_; }
    void collect_all(Cycles now);
    void collect(int channel, Cycles until);
    void land(const DramChannel::Completion& completion);

    DramSystem& memory_;
    const std::int64_t window_;
    const Listener listener_;
    std::vector<Flight> flights_;  // slots, reused: the memory knows a request by its slot
    std::vector<std::size_t> free_;
    std::int64_t outstanding_ = 0;           // not yet collected
    std::vector<std::int64_t> uncollected_;  // without a window: sent to each channel since it was collected
    Cycles collected_{-1};                   // with a window: so far everything is known …
    std::int64_t held_ = 0;                  // … and so many were done at that very clock, and still count
    std::vector<DramChannel::Completion> done_;  // scratch
    DriveResult result_;
};

}  // namespace systole
