// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/bus_spread.h"

#include <algorithm>

namespace systole::systolic {
namespace {

/// Rows that are looked at: enough for every bit of a pitch that a map may hash.
constexpr std::int64_t kRows = 64;

}  // namespace

BusSpread::BusSpread(const DramSpec& spec) : buses_(std::max(1, spec.data_buses())) {
    if (spec.kind == DramSpec::Kind::Dram && !spec.address_map.empty()) map_.emplace(spec);
}

double BusSpread::of(std::int64_t pitch, std::int64_t bytes) {
    if (!map_ || bytes <= 0 || bytes >= pitch) return 1;
    const auto [entry, is_new] = known_.try_emplace({pitch, bytes}, 1.0);
    if (is_new) entry->second = measure(pitch, bytes);
    return entry->second;
}

double BusSpread::measure(std::int64_t pitch, std::int64_t bytes) const {
    std::vector<std::int64_t> bursts(static_cast<std::size_t>(buses_));
    std::vector<ChannelShare> shares;
    for (std::int64_t row = 0; row < kRows; ++row) {
        shares.clear();
        map_->split(row * pitch, Bytes(bytes), shares);
        for (const ChannelShare& share : shares) bursts[static_cast<std::size_t>(share.bus)] += share.count;
    }
    std::int64_t all = 0;
    for (const std::int64_t count : bursts) all += count;
    return static_cast<double>(all) / static_cast<double>(std::ranges::max(bursts) * buses_);
}

}  // namespace systole::systolic
