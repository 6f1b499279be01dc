// SPDX-License-Identifier: Apache-2.0
// What requests met in a memory, for people, programs and spreadsheets. docs/formats.md gives every key.
#pragma once

#include <string>
#include <vector>

#include "models/memory/dram_system.h"
#include "models/traffic/traffic_driver.h"
#include "sim/account/energy_ledger.h"

namespace systole::app {

struct DramReport {
    struct Bus {
        DramChannel::Stats stats;
        BusAccount account;
    };
    std::string memory, traffic, effective_config;
    DramSpec spec;
    DriveOptions options;  ///< without defaults left open
    DriveResult result;
    std::vector<Bus> buses;  ///< channel by channel

    DramChannel::Stats stats() const;
    /// Bursts that found their row open; rows that a refresh closed unused count against them.
    std::int64_t row_hits() const;
    EnergyLedger energy() const;
    BusAccount account() const;
    /// Bytes over time over the peak of all buses, and in units of 10^9 B/s.
    double share_of_peak() const;
    double gigabytes_per_second() const;
};

/// Figures of the run and a bar for each owner of the data buses' clocks.
std::string dram_text(const DramReport& report);
std::string dram_json(const DramReport& report);
/// A header and one row.
std::string dram_csv(const DramReport& report);

}  // namespace systole::app
