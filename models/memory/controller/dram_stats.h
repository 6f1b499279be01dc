// SPDX-License-Identifier: Apache-2.0
// What a pseudo-channel counts.
#pragma once

#include <cstdint>

#include "sim/base/units.h"

namespace systole {

struct DramStats {
    std::int64_t read_bursts = 0, write_bursts = 0;
    std::int64_t activates = 0;
    std::int64_t precharges = 0;  ///< banks closed: by PRE, by PREA, or with a column
    std::int64_t refreshes = 0, bank_refreshes = 0;
    Cycles bus_busy;  ///< clocks with data on the bus

    /// Bursts beyond the first of each activation.
    std::int64_t row_hits() const { return read_bursts + write_bursts - activates; }
    DramStats& operator+=(const DramStats& other) { return add(other, 1); }
    /// `other`, so many times.
    DramStats& add(const DramStats& other, std::int64_t times) {
        read_bursts += other.read_bursts * times;
        write_bursts += other.write_bursts * times;
        activates += other.activates * times;
        precharges += other.precharges * times;
        refreshes += other.refreshes * times;
        bank_refreshes += other.bank_refreshes * times;
        bus_busy += other.bus_busy * times;
        return *this;
    }
};

}  // namespace systole
