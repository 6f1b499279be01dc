// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "models/devices/systolic/spec/spec.h"

namespace systole::systolic {

std::optional<MacRate> MxuSpec::rate_of(DType activations, std::optional<DType> second) const {
    const std::optional<MacRate>& own = rate[static_cast<std::size_t>(activations)];
    if (!second || *second == activations) return own;
    const auto pair = mixed_rate.find({activations, *second});
    if (pair != mixed_rate.end()) return pair->second.macs > 0 ? std::optional(pair->second) : std::nullopt;
    const std::optional<MacRate>& other = rate[static_cast<std::size_t>(*second)];
    return own && other ? std::min(own, other) : std::nullopt;
}

MacRate MxuSpec::highest_rate() const {
    MacRate highest;
    for (const auto& own : rate) highest = std::max(highest, own.value_or(MacRate{}));
    for (const auto& [formats, mixed] : mixed_rate) highest = std::max(highest, mixed);
    return highest;
}

}  // namespace systole::systolic
