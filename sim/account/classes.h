// SPDX-License-Identifier: Apache-2.0
// The classes that partition matrix capacity, common to every device kind, in the order in which ties between
// simultaneous causes are broken (host first).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace systole {

enum class SlotClass : std::uint8_t {
    Useful,      ///< MACs on real data
    Padding,     ///< slots that hold tile-edge padding
    Ramp,        ///< weight shift, fill, drain; prologue, epilogue
    Host,        ///< waiting on the host link
    Memory,      ///< waiting on DRAM
    OnChip,      ///< scratchpad bank or port conflict, accumulators full
    Dependency,  ///< result of an earlier tile or layer
    Vector,      ///< non-matrix work while the array idles
    Launch,      ///< sequencer and issue
    Tail         ///< no work left for this unit
};
constexpr std::size_t kSlotClasses = 10;

/// The key of results and tables: "useful", "padding", ..., "on_chip", ...
std::string_view to_string(SlotClass slot_class);

/// Slot-ticks by class.
using ClassSlots = std::array<std::int64_t, kSlotClasses>;

}  // namespace systole
