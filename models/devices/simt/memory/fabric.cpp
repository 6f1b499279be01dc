// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/memory/fabric.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>

#include "sim/base/check.h"
#include "sim/base/checked.h"

namespace systole::simt {
namespace {

using Ports = std::map<std::int64_t, Port>;

// That lie in one partition together.
constexpr std::int64_t kSideBytes = 4096;

/// In which partition the bytes lie: the parity of their number, as a hash has it.
std::int64_t side_of(std::int64_t address) {
    return std::popcount(static_cast<std::uint64_t>(address / kSideBytes)) % 2;
}

BytesPerSecond rate(Bytes per_cycle, const ClockDomain& clock) {
    const auto bytes = checked_mul(per_cycle.value(), clock.frequency().value());
    SYSTOLE_CHECK(bytes && *bytes > 0, "{} B a cycle at {} Hz", per_cycle.value(), clock.frequency().value());
    return BytesPerSecond(*bytes);
}

/// The entry that begins with this SM, which had what those before it had.
Ports::iterator set_apart(Ports& ports, std::int64_t sm) {
    const auto before = std::prev(ports.upper_bound(sm));
    return before->first == sm ? before : ports.emplace_hint(std::next(before), sm, before->second);
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

void Port::serve(BytesPerSecond rate) {
    busy_since_ = free_;
    in_period_ = Bytes(0);
    rate_ = rate;
}

Fabric::Direction::Direction(Bytes all, Bytes of_sm, const ClockDomain& clock)
    : all_per_cycle(all),
      sm_per_cycle(of_sm),
      slices(rate(all, clock)),
      ports{{0, Port(rate(of_sm, clock))}} {}

void Fabric::Direction::run_at(const ClockDomain& clock) {
    slices.serve(rate(all_per_cycle, clock));
    for (auto& [sm, port] : ports) port.serve(rate(sm_per_cycle, clock));
}

Fabric::Fabric(const L2Spec& spec, ClockDomain clock)
    : clock_(clock),
      latency_(spec.latency),
      far_latency_(spec.far_latency),
      read_(spec.bytes_per_cycle, spec.sm_read_per_cycle, clock),
      written_(spec.write_bytes_per_cycle, spec.sm_write_per_cycle, clock) {}

void Fabric::run_at(ClockDomain clock) {
    clock_ = clock;
    read_.run_at(clock);
    written_.run_at(clock);
}

Ticks Fabric::read(Ticks now, Bytes bytes, SmRange sms, Bytes of_sm) {
    return pass(read_, now, bytes, sms, of_sm);
}

// SMs lie on either side by turns.
Cycles Fabric::far(std::int64_t address, SmRange sms, Bytes of_sm) const {
    if (of_sm > Bytes(kSideBytes)) return far_latency_;
    if (sms.count > 1) return Cycles(far_latency_.value() / 2);
    return side_of(address) == sms.first % 2 ? Cycles(0) : far_latency_;
}

Ticks Fabric::write(Ticks now, Bytes bytes, SmRange sms, Bytes of_sm) {
    return pass(written_, now, bytes, sms, of_sm);
}

/// SMs that did different things may do the same now; ports that were idle then are alike again.
Ticks Fabric::pass_ports(Direction& direction, Ticks now, SmRange sms, Bytes of_sm) {
    Ports& ports = direction.ports;
    const auto end = set_apart(ports, sms.first + sms.count), first = set_apart(ports, sms.first);
    Ticks last;
    for (auto port = first; port != end;) {
        last = std::max(last, port->second.pass(now, of_sm).end);
        const bool alike = port != first && std::prev(port)->second == port->second;
        port = alike ? ports.erase(port) : std::next(port);
    }
    return last;
}

Ticks Fabric::pass(Direction& direction, Ticks now, Bytes bytes, SmRange sms, Bytes of_sm) {
    direction.total += bytes;
    const Port::Service slices = direction.slices.pass(now, bytes);
    const Ticks own = pass_ports(direction, slices.start, sms, of_sm);
    return clock_.after(std::max(slices.end, own), latency_);
}

}  // namespace systole::simt
