// SPDX-License-Identifier: Apache-2.0
#include "models/memory/addresses/share_patterns.h"

#include <algorithm>
#include <bit>

namespace systole {
namespace {

using Load = SharePattern::Load;

bool alike(const SharePattern& pattern, int pseudo_channels, const Load& a, const Load& b) {
    const int apart = (b.channel - a.channel) * pseudo_channels;
    const auto first = pattern.shares.begin() + static_cast<std::ptrdiff_t>(a.first);
    const auto other = pattern.shares.begin() + static_cast<std::ptrdiff_t>(b.first);
    return a.count == b.count && std::equal(first, first + static_cast<std::ptrdiff_t>(a.count), other,
                                            [apart](const ChannelShare& one, const ChannelShare& two) {
                                                return one.bus + apart == two.bus && one.first == two.first &&
                                                       one.count == two.count;
                                            });
}

}  // namespace

Bytes even_stripe(const DramSpec& spec) {
    if (!spec.is_dram()) return Bytes(0);
    const AddressMap map(spec);
    SharePatterns patterns(spec, map);
    for (Bytes stripe = spec.burst_bytes; stripe <= spec.max_payload; stripe = stripe * 2)
        if (patterns.split(0, stripe).pattern->even) return stripe;
    return Bytes(0);
}

SharePatterns::SharePatterns(const DramSpec& spec, const AddressMap& map)
    : map_(map),
      burst_shift_(std::countr_zero(static_cast<std::uint64_t>(spec.burst_bytes.value()))),
      pseudo_channels_(spec.pseudo_channels),
      channels_(spec.channels),
      entries_(std::size_t{1} << kEntryBits) {}

std::size_t SharePatterns::index(const Way& way) {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U;  // 2^64 / the golden ratio
    std::uint64_t mixed = static_cast<std::uint64_t>(way.first) * kMix;
    mixed = (mixed ^ static_cast<std::uint64_t>(way.count) ^ mixed >> 32) * kMix;
    mixed = (mixed ^ static_cast<std::uint64_t>(way.bus) ^ mixed >> 32) * kMix;
    return mixed >> (64 - kEntryBits);
}

RangeShares SharePatterns::split(std::int64_t address, Bytes bytes) {
    const std::int64_t first = address >> burst_shift_;
    const std::int64_t last = (address + bytes.value() - 1) >> burst_shift_;
    // The least block, a power of two in size and aligned to it, that has all of the range.
    const int bits = std::bit_width(static_cast<std::uint64_t>(first ^ last));
    const std::int64_t block = first >> bits << bits;
    const ChannelShare begin = map_.share_of(block << burst_shift_);
    const Way way{first - block, last - first + 1, begin.bus};
    Entry& entry = entries_[index(way)];
    if (!entry.pattern || entry.way != way) entry = {way, make(address, bytes, begin.first)};
    return {entry.pattern, begin.first};
}

std::shared_ptr<const SharePattern> SharePatterns::make(std::int64_t address, Bytes bytes,
                                                        std::int64_t origin) const {
    SharePattern pattern;
    map_.split(address, bytes, pattern.shares);
    pattern.buses = BusSet(channels_ * pseudo_channels_);
    for (ChannelShare& share : pattern.shares) {
        share.first -= origin;
        pattern.buses.insert(share.bus);
    }
    group_by_channel(pattern);
    return std::make_shared<const SharePattern>(std::move(pattern));
}

void SharePatterns::group_by_channel(SharePattern& pattern) const {
    std::vector<Load>& loads = pattern.loads;
    for (std::size_t i = 0; i < pattern.shares.size(); ++i) {
        const int channel = pattern.shares[i].bus / pseudo_channels_;
        if (loads.empty() || loads.back().channel != channel)
            loads.push_back({channel, i, 1, loads.size()});
        else
            ++loads.back().count;
    }
    pattern.even = loads.size() == static_cast<std::size_t>(channels_);
    for (std::size_t i = 0; i < loads.size(); ++i) {
        for (std::size_t other = 0; other < i && loads[i].like == i; ++other)
            if (loads[other].like == other && alike(pattern, pseudo_channels_, loads[other], loads[i]))
                loads[i].like = other;
        pattern.even = pattern.even && loads[i].like == 0;
    }
}

}  // namespace systole
