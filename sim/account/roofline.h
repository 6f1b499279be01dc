// SPDX-License-Identifier: Apache-2.0
// The floor below every run, level by level: no machine with these peaks does this work in fewer cycles,
// however well it overlaps. Integer-exact, so that a run may be held to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/base/mac_rate.h"
#include "sim/base/units.h"

namespace systole {

struct ResultRow;

/// The units and paths that have a peak, in the order in which equals are named.
enum class Level : std::uint8_t {
    Compute,  ///< matrix units
    Vector,   ///< vector unit
    OnChip,   ///< banks of the scratchpad
    Memory,   ///< buses of the DRAM
    Host,     ///< host link
    Chips     ///< links to neighbouring chips
};
constexpr std::size_t kLevels = 6;
/// "compute", "vector", "on_chip", "memory", "host", "chips".
std::string_view to_string(Level level);

/// What the banks of a scratchpad give in a cycle of the device's clock.
struct OnChipPeak {
    std::int64_t bytes_per_cycle = 0;
    bool both_ways = false;  ///< reads and writes together; otherwise each of them
};

/// The highest rates of a device. A rate of 0 says that the device has no such path.
struct Peaks {
    MacRate macs;                       ///< of all matrix units together, at the work's formats
    std::int64_t lanes = 0;             ///< of the vector unit: lane-cycles a cycle
    std::optional<OnChipPeak> on_chip;  ///< nothing: clients never meet there, so that it is no roof
    BytesPerSecond dram;                ///< reads and writes together; max(): no roof
    BytesPerSecond host;                ///< each direction
    Hertz clock;                        ///< of the cycles
    BytesPerSecond chips = {};          ///< links to all neighbours together, each direction
};

/// What is to be done on each level.
struct Work {
    Macs macs;                     ///< on matrix units
    std::int64_t lane_cycles = 0;  ///< on the vector unit
    Bytes on_chip_read, on_chip_written;
    Bytes dram;
    Bytes host_in, host_out;
    Bytes chips_in = {}, chips_out = {};

    Work& operator+=(const Work& other);
};

/// Cycles that the work of each level takes at its peak, rounded up.
struct Roofline {
    std::array<Cycles, kLevels> cycles{};

    Cycles at(Level level) const { return cycles[static_cast<std::size_t>(level)]; }
    /// The slowest level's.
    Cycles floor() const;
    /// The slowest level; of equals the first; "none" without work.
    std::string_view bound() const;
};

/// Work for a path of rate 0 is a failed check.
Roofline roofline(const Work& work, const Peaks& peaks);

/// What a row says of its work.
Work work_of(const ResultRow& row);

}  // namespace systole
