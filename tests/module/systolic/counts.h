// SPDX-License-Identifier: Apache-2.0
// What a run on a small systolic machine (1 cycle = 1000 ps) counted.
#pragma once

#include <cstdint>
#include <string>

#include "sim/account/run_result.h"

namespace systole::systolic {

/// Of the part that `part` ends the path of; -1 where it counts nothing of that name.
inline std::int64_t counter(const DeviceResult& result, const std::string& name,
                            const std::string& part = "mxu0") {
    for (const Stat& stat : result.stats)
        if (stat.name == name && stat.path.ends_with(part)) return stat.value;
    return -1;
}

/// Cycles of a class that each of `slots` multipliers spent on average, rounded down.
inline std::int64_t cycles_of(const ResultRow& row, SlotClass slot_class, std::int64_t slots = 16) {
    return row.slots[static_cast<std::size_t>(slot_class)] / (slots * 1000);
}

}  // namespace systole::systolic
