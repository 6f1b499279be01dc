// SPDX-License-Identifier: Apache-2.0
#include "models/link/chip_link_config.h"

namespace systole {
namespace {

// Beyond what is built, on either side: slips of the pen.
constexpr BytesPerSecond kSlowestLink(1'000'000), kFastestLink(1'000'000'000'000'000);
constexpr Ticks kLongestWait(kTicksPerSecond / 1000);

}  // namespace

std::optional<ChipLinkSpec> read_chip_link_spec(const config::Section& root) {
    if (!root.has("chip_link")) return std::nullopt;
    config::Section link = root.section("chip_link");
    ChipLinkSpec spec;
    spec.network = static_cast<ChipLinkSpec::Network>(
        link.choice("network",
                    "what joins the chips: a ring of links to two neighbours, or a switch that carries all "
                    "of the bandwidth to any chip",
                    {"ring", "switch"}, 0));
    spec.bandwidth = link.bandwidth(
        "bandwidth", "each direction: of the link to a neighbouring chip, or of all links into the switch");
    if (spec.bandwidth < kSlowestLink || spec.bandwidth > kFastestLink)
        link.fail("bandwidth", "expected 1 MB/s to 1 PB/s, as links between chips have");
    spec.latency = link.time("latency", "from the last byte sent to its arrival at the other chip");
    if (spec.latency > kLongestWait)
        link.fail("latency", "longer than a millisecond, which no chip link's is");
    return spec;
}

}  // namespace systole
