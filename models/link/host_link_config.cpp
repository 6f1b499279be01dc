// SPDX-License-Identifier: Apache-2.0
#include "models/link/host_link_config.h"

#include <fmt/format.h>

#include <bit>

namespace systole {
namespace {

using config::Section;

// Slower than anything built: values beyond these are slips of the pen, and would simulate for ages.
constexpr BytesPerSecond kSlowestHostLink(1'000'000);
constexpr Ticks kLongestHostWait(kTicksPerSecond);

Ticks read_wait(Section& host, std::string_view key, std::string_view meaning) {
    const Ticks wait = host.time(key, meaning);
    if (wait > kLongestHostWait) host.fail(key, "longer than a second, which no host link's is");
    return wait;
}

/// A size that a register of PCI Express can hold: 128 B to 4 KiB, doubling.
Bytes read_packet(Section& host, std::string_view key, std::string_view meaning, Bytes fallback) {
    const Bytes size = host.bytes(key, meaning, {1, 1 << 20}, fallback);
    const auto bytes = static_cast<std::uint64_t>(size.value());
    if (std::has_single_bit(bytes) && bytes >= 128 && bytes <= 4096) return size;
    host.fail(key, fmt::format("PCI Express has 128, 256, 512, 1024, 2048 and 4096 B, not {}", bytes));
    return fallback;
}

void read_packets(Section& host, PcieSpec& spec) {
    spec.max_payload = read_packet(host, "max_payload", "data of one packet at most", spec.max_payload);
    spec.max_read_request = read_packet(host, "max_read_request", "what one read request asks for at most",
                                        spec.max_read_request);
    spec.read_completion_boundary =
        host.bytes("read_completion_boundary", "multiples at which the host cuts completions", {1, 4096},
                   spec.read_completion_boundary);
    if (spec.read_completion_boundary != Bytes(64) && spec.read_completion_boundary != Bytes(128))
        host.fail("read_completion_boundary", "PCI Express has 64 B and 128 B");
    spec.completion_payload = host.bytes("completion_payload", "data that the host puts into one completion",
                                         {64, 4096}, spec.max_payload);
    if (!std::has_single_bit(static_cast<std::uint64_t>(spec.completion_payload.value())) ||
        spec.completion_payload < spec.read_completion_boundary || spec.completion_payload > spec.max_payload)
        host.fail(
            "completion_payload",
            fmt::format("expected a power of two from the read completion boundary ({} B) to max_payload "
                        "({} B), not {} B",
                        spec.read_completion_boundary.value(), spec.max_payload.value(),
                        spec.completion_payload.value()));
    spec.long_addresses = host.choice("address_bits", "of request headers: 64 takes four words, 32 three",
                                      {"64", "32"}, 0) == 0;
    spec.packets_per_ack = static_cast<int>(
        host.count("packets_per_ack", "packets for which one acknowledgement and one credit update are sent",
                   {1, 64}, spec.packets_per_ack));
}

void read_limits(Section& host, PcieSpec& spec) {
    spec.tags = static_cast<int>(
        host.count("tags", "read requests that may wait for completions (32, 256, 768 with longer tags)",
                   {1, 16384}, spec.tags));
    Section posted = host.section("posted_credits");
    spec.posted_headers = static_cast<int>(posted.count(
        "headers", "packets of writes that the host has room for", {1, 1 << 16}, spec.posted_headers));
    spec.posted_data =
        posted.bytes("data", "data of writes that the host has room for", {16, 1 << 24}, spec.posted_data);
    if (spec.posted_data < spec.max_payload)
        posted.fail("data", fmt::format("{} B are less than one packet of {} B, which could never be sent",
                                        spec.posted_data.value(), spec.max_payload.value()));
}

PcieSpec read_pcie(Section& host) {
    PcieSpec spec;
    spec.generation =
        static_cast<int>(host.count("generation", "of PCI Express: 2.5, 5, 8, 16, 32, 64 GT/s", {1, 6}));
    const std::int64_t lanes = host.count("lanes", "lanes of the link: 1, 2, 4, 8 or 16", {1, 16});
    if (!std::has_single_bit(static_cast<std::uint64_t>(lanes)))
        host.fail("lanes", fmt::format("PCI Express has links of 1, 2, 4, 8 and 16 lanes, not {}", lanes));
    spec.lanes = static_cast<int>(lanes);
    read_packets(host, spec);
    read_limits(host, spec);
    spec.host_latency = read_wait(host, "host_latency", "from a request's arrival at the host to its data");
    return spec;
}

}  // namespace

HostLinkSpec read_host_link_spec(Section host) {
    HostLinkSpec spec;
    const bool pcie = host.choice("kind", "fixed: a bandwidth and a latency; pcie: packets, tags, credits",
                                  {"fixed", "pcie"}, std::size_t{0}) == 1;
    if (pcie) spec.kind = HostLinkSpec::Kind::Pcie;
    // A PCIe link made fixed (--set host.kind=fixed) keeps its packets, which then mean nothing.
    if (pcie || host.has("generation")) spec.pcie = read_pcie(host);
    if (!pcie) {
        spec.bandwidth = host.bandwidth("bandwidth", "effective bandwidth of the host link, each direction");
        if (spec.bandwidth < kSlowestHostLink)
            host.fail("bandwidth", "slower than 1 MB/s, which no host link is");
    } else if (host.has("bandwidth")) {
        host.refuse("bandwidth",
                    "a PCIe link's bandwidth follows from its generation, lanes and packets; one of a "
                    "stated bandwidth has kind: fixed, or --set host.kind=fixed");
    }
    spec.latency = read_wait(host, "latency", "one way, host to device or back");
    return spec;
}

}  // namespace systole
