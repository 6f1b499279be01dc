// SPDX-License-Identifier: Apache-2.0
// When reads and writes over PCI Express are done: plain arithmetic, no SystemC. Both directions are shared:
//
//     to the host    read requests │ packets of writes (posted) │ acknowledgements of completions
//     to the device  completions of reads with their data       │ acknowledgements of requests and writes
//
// A read waits for a tag, a write for credits. Requests and acknowledgements are short and go first; packets
// with data share what they leave. A transaction is cut into packets at multiples of the largest, but costs
// the same however many those are.
#pragma once

#include "models/link/link_spec.h"
#include "models/link/pcie_wire.h"
#include "models/link/windowed_lane.h"
#include "sim/base/units.h"

namespace systole {

class PcieTiming {
public:
    /// `latency`: one way, from the last byte sent to its arrival.
    PcieTiming(const PcieSpec& spec, Ticks latency);

    /// The device asks at `now` (not before an earlier call's) for `bytes` of host memory: when the last byte
    /// arrives.
    Ticks read(Ticks now, std::int64_t address, Bytes bytes);
    /// The device hands over `bytes` for host memory: when the last byte arrives there.
    Ticks write(Ticks now, std::int64_t address, Bytes bytes);

    /// The data carried, and the time for which the wires were taken by it, its packets' headers and the
    /// other direction's requests and acknowledgements.
    struct Direction {
        Bytes data;
        Ticks wire;
    };
    Direction down() const { return {read_bytes_, wire_.tick(down_time_)}; }
    Direction up() const { return {written_bytes_, wire_.tick(up_time_)}; }

private:
    const PcieWire wire_;
    const std::int64_t read_request_, payload_;
    const WireTime latency_, host_latency_;
    WindowedLane down_, up_;
    WireTime down_time_ = 0, up_time_ = 0;
    Bytes read_bytes_, written_bytes_;
};

}  // namespace systole
