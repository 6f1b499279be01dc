// SPDX-License-Identifier: Apache-2.0
// Where the energy went: so many events of a component, each of so much. Entered once at the end of a run by
// the component that counted; what nobody has a figure for has no entry, and is not in the total.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace systole {

struct EnergyEntry {
    std::string path;     ///< of the component, as in its counters
    std::string event;    ///< "activate", "background"
    std::string counter;  ///< the component's counter of these events; empty if none counts them
    std::string unit;     ///< of `count`: "commands", "ps"
    std::int64_t count = 0;
    Femtojoules each;
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
