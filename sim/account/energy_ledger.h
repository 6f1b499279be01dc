// SPDX-License-Identifier: Apache-2.0
// Where the energy went: so many events of a component, each of so much. Entered once at the end of a run by
// the component that counted; what nobody has a figure for has no entry, and is not in the total.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"

namespace systole {

/// The parts of a device that energy is told by, the same for every kind.
enum class EnergyPart : std::uint8_t {
    Matrix,        ///< multipliers and adders of the matrix units
    Vector,        ///< other arithmetic
    Instructions,  ///< fetched, decoded, scheduled, with the registers that they read and write
    OnChip,        ///< SRAM, and the wires between it and the units
    Memory,
    Host,   ///< the link to the host
    Chips,  ///< the links to other chips
    Static  ///< what the device draws when it does nothing, less the memory's share of that
};
constexpr std::size_t kEnergyParts = 8;
std::string_view to_string(EnergyPart part);

/// By part.
using EnergyParts = std::array<Femtojoules, kEnergyParts>;

/// What events that have no layer of their own are shared out to layers by.
enum class EnergyFollows : std::uint8_t { Time, DramRead, DramWritten, DramMoved };

struct EnergyEntry {
    std::string path;     ///< of the component, as in its counters
    std::string event;    ///< "activate", "background"
    std::string counter;  ///< the component's counter of these events; empty if none counts them
    std::string unit;     ///< of `count`: "commands", "ps"
    std::int64_t count = 0;
    Femtojoules each;
    EnergyPart part = EnergyPart::Memory;
    EnergyFollows follows = EnergyFollows::Time;
    std::vector<std::int64_t> layers = {};  ///< of `count`, each layer's; empty: not shared out
    Femtojoules energy() const { return each * count; }
};

class EnergyLedger {
public:
    /// Throws UserError if the sum leaves 64 bits of femtojoules (nine kilojoules): figures far off do that.
    void enter(EnergyEntry entry);

    const std::vector<EnergyEntry>& entries() const { return entries_; }
    bool empty() const { return entries_.empty(); }
    Femtojoules total() const { return total_; }

private:
    std::vector<EnergyEntry> entries_;
    Femtojoules total_;
};

/// "Energy 12.30 mJ: 54 % background, 30 % read, ...": one sentence; by event, largest first. "" for an empty
/// ledger.
std::string energy_sentence(const EnergyLedger& ledger);

}  // namespace systole
