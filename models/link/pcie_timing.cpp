// SPDX-License-Identifier: Apache-2.0
#include "models/link/pcie_timing.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {
namespace {

/// Calls `visit(address, bytes, how many)` for the pieces of a range that is cut at multiples of `size`: one
/// that begins it in the middle of such a piece, all whole ones, and one that ends it in the middle.
template <class Visit>
void for_pieces(std::int64_t address, std::int64_t bytes, std::int64_t size, Visit visit) {
    const std::int64_t end = address + bytes;
    const std::int64_t whole = ceil_div(address, size) * size, whole_end = end / size * size;
    if (whole > whole_end) return visit(address, bytes, 1);
    if (address < whole) visit(address, whole - address, 1);
    if (whole < whole_end) visit(whole, size, (whole_end - whole) / size);
    if (whole_end < end) visit(whole_end, end - whole_end, 1);
}

/// So many full packets as there are credits for; short ones take the place of full ones.
std::int64_t posted_window(const PcieSpec& spec) {
    const std::int64_t window =
        std::min<std::int64_t>(spec.posted_headers, spec.posted_data.value() / spec.max_payload.value());
    SYSTOLE_CHECK(window > 0, "{} B of posted credits for packets of {} B", spec.posted_data.value(),
                  spec.max_payload.value());
    return window;
}

}  // namespace

PcieTiming::PcieTiming(const PcieSpec& spec, Ticks latency)
    : wire_(spec),
      read_request_(spec.max_read_request.value()),
      payload_(spec.max_payload.value()),
      latency_(wire_.at(latency)),
      host_latency_(wire_.at(spec.host_latency)),
      // A tag is back when its completions have arrived; its next completions need a request before them.
      down_(spec.tags, wire_.read_request() + 2 * latency_ + host_latency_),
      // Credits are back when the host has put the data away and said so.
      up_(posted_window(spec), 2 * latency_ + host_latency_) {}

Ticks PcieTiming::read(Ticks time, std::int64_t address, Bytes bytes) {
    const WireTime now = wire_.at(time);
    // Requests are no longer on the wire than their completions, so only the first is ever waited for.
    const WireTime ready = now + wire_.read_request() + latency_ + host_latency_;
    WireTime end = 0, up = 0;
    for_pieces(address, bytes.value(), read_request_,
               [&](std::int64_t from, std::int64_t size, std::int64_t requests) {
                   const WireTime each = wire_.completions(from, size) + wire_.acknowledge(1);
                   end = down_.pass(now, ready, requests, each);
                   down_time_ += each * requests;
                   up += requests *
                         (wire_.read_request() + wire_.acknowledge(wire_.completion_count(from, size)));
               });
    up_.occupy(now, up);
    up_time_ += up;
    read_bytes_ += bytes;
    return wire_.tick(end + latency_);
}

Ticks PcieTiming::write(Ticks time, std::int64_t address, Bytes bytes) {
    const WireTime now = wire_.at(time);
    WireTime end = 0, down = 0;
    for_pieces(address, bytes.value(), payload_,
               [&](std::int64_t from, std::int64_t size, std::int64_t packets) {
                   const WireTime each = wire_.write(from, size);
                   end = up_.pass(now, now, packets, each);
                   up_time_ += each * packets;
                   down += wire_.acknowledge(packets);
               });
    down_.occupy(now, down);
    down_time_ += down;
    written_bytes_ += bytes;
    return wire_.tick(end + latency_);
}

}  // namespace systole
