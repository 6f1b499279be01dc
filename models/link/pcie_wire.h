// SPDX-License-Identifier: Apache-2.0
// What packets cost on the wires of PCI Express: line rate and encoding of each generation, and the bytes
// that a packet (TLP) takes beside its data. Times are exact: counted in a unit in which a byte is a whole
// number.
//
// Sources: PCI Express Base Specification 3.0 (2.5, 5 and 8 GT/s: sections 4.2.1, 4.2.2), 5.0 (16, 32 GT/s),
// 6.0 (64 GT/s, flits: section 4.2.3); headers 2.2, LCRC and sequence number 3.6, DLLPs 3.5.
#pragma once

#include <cstdint>

#include "models/link/link_spec.h"
#include "sim/base/units.h"

namespace systole {

/// A time, or the length of one, in units of PcieWire.
using WireTime = Int128;

class PcieWire {
public:
    explicit PcieWire(const PcieSpec& spec);

    WireTime at(Ticks time) const { return WireTime{time.value()} * units_per_tick_; }
    /// The first tick that is not before `time`.
    Ticks tick(WireTime time) const {
        return Ticks(static_cast<std::int64_t>((time + units_per_tick_ - 1) / units_per_tick_));
    }

    /// A packet that asks for data.
    WireTime read_request() const { return byte_ * (request_header_ + framing_); }
    /// A packet that carries the bytes [address, address + bytes) to the host: whole words of 4 B.
    WireTime write(std::int64_t address, std::int64_t bytes) const {
        return byte_ * (request_header_ + framing_ + words(address, bytes));
    }
    /// The packets that answer a request for [address, address + bytes), and how many they are. The first
    /// ends where the others can begin at a read completion boundary.
    WireTime completions(std::int64_t address, std::int64_t bytes) const;
    std::int64_t completion_count(std::int64_t address, std::int64_t bytes) const;
    /// What `packets` received in one direction cost in the other: acknowledgements and credit updates. In
    /// flits they have bytes of their own, which the line rate already leaves out.
    WireTime acknowledge(std::int64_t packets) const { return acknowledge_ * packets; }

    /// Bytes per second of one direction, packets and all, rounded up.
    BytesPerSecond rate() const;
    /// The most data per second that any stream of packets carries: the largest payload behind the smallest
    /// header, rounded up.
    BytesPerSecond payload_rate() const;

private:
    static std::int64_t words(std::int64_t address, std::int64_t bytes);

    const std::int64_t boundary_, completion_payload_, max_payload_;
    const std::int64_t request_header_, framing_;
    std::int64_t units_per_tick_;
    WireTime byte_, acknowledge_;
};

}  // namespace systole
