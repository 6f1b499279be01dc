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
    spec.bandwidth = link.bandwidth("bandwidth", "of the link to a neighbouring chip, each direction");
    if (spec.bandwidth < kSlowestLink || spec.bandwidth > kFastestLink)
        link.fail("bandwidth", "expected 1 MB/s to 1 PB/s, as links between chips have");
    spec.latency = link.time("latency", "from the last byte sent to its arrival at the neighbour");
    if (spec.latency > kLongestWait)
        link.fail("latency", "longer than a millisecond, which no chip link's is");
    return spec;
}

}  // namespace systole
