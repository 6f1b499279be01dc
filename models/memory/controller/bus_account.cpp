// SPDX-License-Identifier: Apache-2.0
#include "models/memory/controller/bus_account.h"

#include <numeric>

namespace systole {

std::string_view to_string(BusTime time) {
    static constexpr std::array<std::string_view, kBusTimes> kNames{
        "transfer",    "refresh",    "ccd_l",        "faw_rrd",
        "command_bus", "turnaround", "row_conflict", "empty_queue"};
    return kNames[static_cast<std::size_t>(time)];
}

std::int64_t BusAccount::total() const {
    return std::accumulate(clocks.begin(), clocks.end(), std::int64_t{0});
}

BusAccount& BusAccount::add(const BusAccount& other, std::int64_t times) {
    for (std::size_t i = 0; i < clocks.size(); ++i) clocks[i] += other.clocks[i] * times;
    return *this;
}

}  // namespace systole
