// SPDX-License-Identifier: Apache-2.0
#include "models/link/pcie_wire.h"

#include <array>

#include "sim/base/check.h"

namespace systole {
namespace {

/// One byte of packets on one lane takes num / den ps.
struct Line {
    std::int64_t num, den;
};

/// Of generations 1 to 6.
constexpr std::array<Line, 6> kLines{{
    {4'000, 1},    // 2.5 GT/s, 8b/10b: 10 bits of 400 ps
    {2'000, 1},    // 5 GT/s, 8b/10b
    {65'000, 64},  // 8 GT/s, 128b/130b: 8 bits of 125 ps x 130/128
    {32'500, 64},  // 16 GT/s
    {16'250, 64},  // 32 GT/s
    {8'000, 59},   // 64 GT/s (PAM4): 8 bits of 15.625 ps x 256/236, the bytes of a flit over those of packets
}};

// An STP token with the sequence number before a packet (8 GT/s on: 4 B; before: STP 1 B, sequence number 2
// B, END 1 B), and the LCRC of 4 B behind it. Flits protect packets as a whole.
constexpr std::int64_t kFraming = 4 + 4;
constexpr std::int64_t kDllp = 8;  // framing 2 B, content 4 B, CRC 2 B
constexpr std::int64_t kCompletionHeader = 12;

bool in_flits(const PcieSpec& spec) {
    return spec.generation >= 6;
}

}  // namespace

PcieWire::PcieWire(const PcieSpec& spec)
    : boundary_(spec.read_completion_boundary.value()),
      completion_payload_(spec.completion_payload.value()),
      max_payload_(spec.max_payload.value()),
      request_header_(spec.long_addresses ? 16 : 12),
      framing_(in_flits(spec) ? 0 : kFraming) {
    SYSTOLE_CHECK(spec.generation >= 1 && spec.generation <= 6, "PCIe generation {}", spec.generation);
    const Line& line = kLines[static_cast<std::size_t>(spec.generation - 1)];
    // One acknowledgement and one credit update for `packets_per_ack` packets: a fraction of a byte each.
    units_per_tick_ = line.den * spec.lanes * spec.packets_per_ack;
    byte_ = line.num * spec.packets_per_ack;
    acknowledge_ = in_flits(spec) ? 0 : 2 * kDllp * line.num;
}

std::int64_t PcieWire::words(std::int64_t address, std::int64_t bytes) {
    return (address + bytes + 3) / 4 * 4 - address / 4 * 4;
}

std::int64_t PcieWire::completion_count(std::int64_t address, std::int64_t bytes) const {
    if (bytes <= completion_payload_) return 1;
    const std::int64_t first_end = (address + completion_payload_) / boundary_ * boundary_;
    return 1 + ceil_div(address + bytes - first_end, completion_payload_);
}

WireTime PcieWire::completions(std::int64_t address, std::int64_t bytes) const {
    // Cuts lie at boundaries, so the words of all completions are those of the request.
    return byte_ *
           (completion_count(address, bytes) * (kCompletionHeader + framing_) + words(address, bytes));
}

BytesPerSecond PcieWire::rate() const {
    const WireTime second = WireTime{kTicksPerSecond} * units_per_tick_;
    return BytesPerSecond(static_cast<std::int64_t>((second + byte_ - 1) / byte_));
}

BytesPerSecond PcieWire::payload_rate() const {
    const WireTime second = WireTime{kTicksPerSecond} * units_per_tick_;
    const WireTime packet = byte_ * (kCompletionHeader + framing_ + max_payload_);
    return BytesPerSecond(static_cast<std::int64_t>((second * max_payload_ + packet - 1) / packet));
}

}  // namespace systole
