// SPDX-License-Identifier: Apache-2.0
// When data pass between the L2 and the SMs: first all slices' ports together, then the port of each SM that
// takes them. Both serve in the order of calls; data go through while they come, so that the slower of the
// two, not their sum, decides. A latency comes on top. No SystemC.
//
//   L2 ports (bytes a cycle of all slices; what n SMs read passes n times) ─► port of an SM ─► latency ─►
//   there
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

private:
    BytesPerSecond rate_;
    Ticks busy_since_;  // start of the current busy period
    Bytes in_period_;   // bytes since then: rounding never accumulates
    Ticks free_;        // everything so far has passed
};

class Fabric {
public:
    Fabric(const L2Spec& spec, ClockDomain clock);

    /// `bytes`, counted once per SM that takes them, are in the L2 at `now` and go to SMs of which the
    /// busiest takes `of_sm`; `sm` is the first of these alike SMs (kNoSm: their ports had nothing else to
    /// do). Answers when the last of them is there. Calls go by time.
    Ticks read(Ticks now, Bytes bytes, std::int64_t sm, Bytes of_sm);
    /// The other way round: when the L2 has them and the SM knows it.
    Ticks write(Ticks now, Bytes bytes, std::int64_t sm, Bytes of_sm);

    static constexpr std::int64_t kNoSm = -1;

    /// SMs 0 … sms - 1 have nothing in common from now on: each has ports of its own.
    void set_apart(std::int64_t sms);

    Bytes bytes_read() const { return read_.total; }
    Bytes bytes_written() const { return written_.total; }

private:
    struct Direction {
        Port slices;
        BytesPerSecond of_sm;
        /// By the first of alike SMs. Those that are set apart from others had what these had until then.
        std::map<std::int64_t, Port> ports = {};
        Bytes total = Bytes(0);
    };
    Port& port_of(Direction& direction, std::int64_t sm) const;
    Ticks pass(Direction& direction, Ticks now, Bytes bytes, std::int64_t sm, Bytes of_sm);

    const ClockDomain clock_;
    const Cycles latency_;
    Direction read_, written_;
};

}  // namespace systole::simt
