// SPDX-License-Identifier: Apache-2.0
// The energy of a whole device, from what a run counted: operations and bytes of each layer times what one of
// them takes, the memory's commands, and the power that flows at any time. The same for every device kind.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/account/energy_ledger.h"
#include "sim/account/run_result.h"

namespace systole {

/// What one operation takes, by the name that rows count it under.
struct OperationEnergy {
    std::string name;  ///< "int8 mac"
    std::string of;    ///< the component below the device: "mxu"
    std::string unit;  ///< "MACs"
    EnergyPart part = EnergyPart::Matrix;
    Femtojoules each;
};

/// What a byte takes that leaves a place, and one that comes into it.
struct PlaceEnergy {
    EnergyPart part = EnergyPart::OnChip;
    Femtojoules read, written;
};

struct DeviceEnergySpec {
    std::vector<OperationEnergy> operations;
    /// Of places that bytes pass without taking energy of their own: none.
    std::array<std::optional<PlaceEnergy>, kPlaces> places{};
    Milliwatts idle;  ///< less the memory's background, which the memory accounts for
};

/// Completes `result.energy`, which holds the memory's, and shares all of it out to layers:
/// - operations and bytes are the layers' own;
/// - the memory's commands follow the layers' bytes, its background and the static power their time.
/// Integers all along, so that layers sum to the total exactly. An operation without a figure is a failed
/// check.
void account_energy(DeviceResult& result, const DeviceEnergySpec& spec);

/// All parts together.
Femtojoules energy_of(const ResultRow& row);

/// What the memory took for the layers of `part`, of what it took for those of `whole`.
EnergyLedger memory_share(const EnergyLedger& ledger, const ResultRow& whole, const ResultRow& part);

/// What a device drew.
struct PowerDrawn {
    double average_w = 0;
    /// The largest mean over neighbouring layers that take kPowerWindow together; the average of shorter
    /// runs.
    double peak_w = 0;
    double operations_per_joule = 0;  ///< two a MAC, of all MACs of the operators
};
/// What a board's regulator takes to answer: shorter peaks come out of its capacitors (assumed: switching
/// frequencies of 0.3 to 1 MHz, loops ten times as slow).
constexpr Ticks kPowerWindow(10'000'000);

/// Nothing where the device has no figures for all of its energy, or the run took no time.
std::optional<PowerDrawn> power_drawn(const DeviceResult& result);

/// "Energy 12.3 mJ: 54 % static, 30 % memory, ...; 75.1 W on average, 88.0 W at most, 1.83 TOPS/W.": by part,
/// largest first. Of a device without figures of its own: the memory's, by event, and that it is only that.
std::string energy_sentence(const DeviceResult& result);

}  // namespace systole
