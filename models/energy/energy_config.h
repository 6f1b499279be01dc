// SPDX-License-Identifier: Apache-2.0
// Reads the section `energy` of a device: a table of one process (configs/energy), and what is the device's.
#pragma once

#include <optional>
#include <vector>

#include "models/energy/energy_table.h"
#include "sim/account/device_energy.h"
#include "sim/config/config.h"

namespace systole {

/// What a device says of its energy besides the table.
struct DeviceEnergy {
    EnergyTable table;
    double wire_mm =
        0;  ///< between the SRAM that all units share (or the memory's pins) and a unit, on average
    Femtojoules host_byte, chip_byte;  ///< of the links, both ends
};

/// Nothing without the section. `multiplied`: formats whose products the device's units take; the table must
/// have their energies. `has_chip_link`: the device has one, which then needs a figure.
std::optional<DeviceEnergy> read_device_energy(const config::Section& root,
                                               const std::vector<DType>& multiplied, bool has_chip_link);

/// What of a device's published idle power is not the background of its memory. `key`, of `section`: where
/// that power was given; complains there if it is less.
Milliwatts static_power(config::Section section, const char* key, Milliwatts idle, Milliwatts memory);

/// Host and chips, as DeviceEnergySpec has places.
void enter_links(const DeviceEnergy& energy, DeviceEnergySpec& spec);

}  // namespace systole
