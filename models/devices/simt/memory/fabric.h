// SPDX-License-Identifier: Apache-2.0
// When data pass between the L2 and the SMs: first all slices' ports together, then the port of each SM that
// takes them. Both serve in the order of calls; data go through while they come, so that the slower of the
// two, not their sum, decides. A latency comes on top. No SystemC.
//
//   L2 ports (bytes a cycle of all slices; what n SMs read passes n times) ─► port of an SM ─► latency ─►
//   there
//
// Where the L2 has two partitions, each line has its home in one of them, before its half of the memory; by
// a hash every 4 KiB lie on one side (A. Demeure, cuda-side-boost: Hopper and Blackwell). What an SM of the
// other side reads is copied into its own, so only the first reading goes far.
//
// All of it goes by the crossbar's clock, which is a share of the SMs' (PowerSpec::l2_follows): cycles are
// theirs.
#pragma once

#include <cstdint>
#include <map>

#include "models/devices/simt/spec/spec.h"
#include "sim/base/clock.h"
#include "sim/base/units.h"

namespace systole::simt {

/// A server of so many bytes a second.
class Port {
public:
    explicit Port(BytesPerSecond rate) : rate_(rate) {}

    struct Service {
        Ticks start, end;
    };
    /// Bytes that are there at `now` or, if later, when those before them have passed; calls go by time.
    Service pass(Ticks now, Bytes bytes);
    /// So many a second from when all so far have passed.
    void serve(BytesPerSecond rate);

private:
    BytesPerSecond rate_;
    Ticks busy_since_;  // start of the current busy period
    Bytes in_period_;   // bytes since then: rounding never accumulates
    Ticks free_;        // everything so far has passed

    friend bool operator==(const Port&, const Port&) = default;
};

/// SMs that do the same: `count` of them from number `first` on.
struct SmRange {
    std::int64_t first = 0, count = 1;
};

class Fabric {
public:
    Fabric(const L2Spec& spec, ClockDomain clock);

    /// The SMs have another clock from now on.
    void run_at(ClockDomain clock);

    /// `bytes`, counted once per SM that takes them, are in the L2 at `now` and go to `sms`, of which the
    /// busiest takes `of_sm`. Answers when the last of them is there. Calls go by time.
    Ticks read(Ticks now, Bytes bytes, SmRange sms, Bytes of_sm);
    /// What a reading takes besides where nobody has read these bytes since they were written: of a few of
    /// one SM, nothing or all of the far partition's latency, by where they lie; of more, some lie far; of
    /// several SMs that read a few each, as much as on average.
    Cycles far(std::int64_t address, SmRange sms, Bytes of_sm) const;
    /// The other way round: when the L2 has them and the SMs know it.
    Ticks write(Ticks now, Bytes bytes, SmRange sms, Bytes of_sm);

    Bytes bytes_read() const { return read_.total; }
    Bytes bytes_written() const { return written_.total; }

private:
    struct Direction {
        /// Bytes a cycle of all slices, and of the port of an SM.
        Direction(Bytes all, Bytes of_sm, const ClockDomain& clock);
        void run_at(const ClockDomain& clock);
        const Bytes all_per_cycle, sm_per_cycle;
        Port slices;
        /// By the first of SMs whose ports had the same to do; the next entry's are others.
        std::map<std::int64_t, Port> ports;
        Bytes total;
    };
    static Ticks pass_ports(Direction& direction, Ticks now, SmRange sms, Bytes of_sm);
    Ticks pass(Direction& direction, Ticks now, Bytes bytes, SmRange sms, Bytes of_sm);

    ClockDomain clock_;
    const Cycles latency_, far_latency_;
    Direction read_, written_;
};

}  // namespace systole::simt
