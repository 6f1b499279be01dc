// SPDX-License-Identifier: Apache-2.0
// Who owns each clock of a data bus. Every clock up to the accounted moment has exactly one owner.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/units.h"

namespace systole {

/// An idle clock belongs to the burst whose data comes next on the bus: it is what that burst's command
/// waited for, so many clocks before as the burst's latency is.
enum class BusTime : std::uint8_t {
    Transfer,     ///< data on the bus
    Refresh,      ///< the pseudo-channel, or the burst's bank, was being refreshed
    CcdLong,      ///< columns of one bank group follow each other at CCD_L
    Activation,   ///< FAW and RRD: too many activations in too short a time
    CommandBus,   ///< another command was on the row or column bus
    Turnaround,   ///< reads after writes, writes after reads; waiting for the bus to turn
    RowConflict,  ///< the bank closed one row and opened another
    EmptyQueue    ///< the burst had not reached the controller
};
inline constexpr int kBusTimes = 8;
/// As in results: "transfer", "refresh", "ccd_l", "faw_rrd", "command_bus", ...
std::string_view to_string(BusTime time);

struct BusAccount {
    std::array<std::int64_t, kBusTimes> clocks{};
    std::int64_t& operator[](BusTime time) { return clocks[static_cast<std::size_t>(time)]; }
    std::int64_t operator[](BusTime time) const { return clocks[static_cast<std::size_t>(time)]; }
    std::int64_t total() const;
    BusAccount& operator+=(const BusAccount& other) { return add(other, 1); }
    /// `other`, so many times.
    BusAccount& add(const BusAccount& other, std::int64_t times);
    friend bool operator==(const BusAccount&, const BusAccount&) = default;
};

}  // namespace systole
