// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/memory/fabric.h"

#include <algorithm>
#include <iterator>

#include "sim/base/check.h"
#include "sim/base/checked.h"

namespace systole::simt {
namespace {

BytesPerSecond rate(Bytes per_cycle, const ClockDomain& clock) {
    const auto bytes = checked_mul(per_cycle.value(), clock.frequency().value());
    SYSTOLE_CHECK(bytes && *bytes > 0, "{} B a cycle at {} Hz", per_cycle.value(), clock.frequency().value());
    return BytesPerSecond(*bytes);
}

}  // namespace

Port::Service Port::pass(Ticks now, Bytes bytes) {
    if (now >= free_) {
        busy_since_ = now;
        in_period_ = Bytes(0);
    }
    const Ticks start = std::max(now, free_);
    in_period_ += bytes;
    const Int128 rate = rate_.value();
    const Int128 ticks = (Int128{in_period_.value()} * kTicksPerSecond + rate - 1) / rate;
    free_ = busy_since_ + Ticks(static_cast<std::int64_t>(ticks));
    return {start, free_};
}

Fabric::Fabric(const L2Spec& spec, ClockDomain clock)
    : clock_(clock),
      latency_(spec.latency),
      read_{Port(rate(spec.bytes_per_cycle, clock)), rate(spec.sm_read_per_cycle, clock)},
      written_{Port(rate(spec.write_bytes_per_cycle, clock)), rate(spec.sm_write_per_cycle, clock)} {}

Ticks Fabric::read(Ticks now, Bytes bytes, std::int64_t sm, Bytes of_sm) {
    return pass(read_, now, bytes, sm, of_sm);
}

Ticks Fabric::write(Ticks now, Bytes bytes, std::int64_t sm, Bytes of_sm) {
    return pass(written_, now, bytes, sm, of_sm);
}

// The last one first: what is set apart has what those before it had.
void Fabric::set_apart(std::int64_t sms) {
    for (std::int64_t sm = sms; sm-- > 0;)
        for (Direction* direction : {&read_, &written_}) port_of(*direction, sm);
}

Port& Fabric::port_of(Direction& direction, std::int64_t sm) const {
    const auto behind = direction.ports.upper_bound(sm);
    if (behind == direction.ports.begin())
        return direction.ports.emplace(sm, Port(direction.of_sm)).first->second;
    const auto at = std::prev(behind);
    return at->first == sm ? at->second : direction.ports.emplace(sm, at->second).first->second;
}

Ticks Fabric::pass(Direction& direction, Ticks now, Bytes bytes, std::int64_t sm, Bytes of_sm) {
    direction.total += bytes;
    const Port::Service slices = direction.slices.pass(now, bytes);
    Port alone(direction.of_sm);
    Port& port = sm == kNoSm ? alone : port_of(direction, sm);
    const Port::Service own = port.pass(slices.start, of_sm);
    return clock_.after(std::max(slices.end, own.end), latency_);
}

}  // namespace systole::simt
