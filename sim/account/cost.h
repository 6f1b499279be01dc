// SPDX-License-Identifier: Apache-2.0
// What a run costs: of a device that is rented by the hour, electricity included, and of one that was bought,
// is written off over its life and draws electricity.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/batch_of.h"
#include "sim/base/serving.h"
#include "sim/base/text_style.h"
#include "sim/base/units.h"

namespace systole {

/// Who asked a price, and when.
struct PriceOrigin {
    std::string on;      ///< "2025-02", "2025-02-14"; empty: of a price that is tried, not quoted
    std::string source;  ///< "sourced: …"
};

/// The prices of a device; it may have both.
struct CostSpec {
    struct Rent {
        double usd_per_hour = 0;
        PriceOrigin origin;
    };
    struct Purchase {
        double usd = 0;
        double life_years = 1;  ///< over which it is written off, evenly
        double electricity_usd_per_kwh = 0;
        double power_overhead = 1;  ///< power of the data centre over that of its machines (PUE)
        PriceOrigin origin;
    };
    std::optional<Rent> rent;
    std::optional<Purchase> purchase;
    double utilization = 1;  ///< share of the paid hours in which it works
};

/// What a run gets through on one device, and on how many the whole of it runs.
struct RunWork {
    Ticks time;
    std::optional<Femtojoules> energy;       ///< of the whole device, where it has figures for all of it
    std::optional<ServingStep> serving;      ///< tokens, and the chips that make them
    std::optional<BatchOf> batch_of;         ///< this device's own
    std::optional<std::int64_t> step_chips;  ///< it is a step of training, which so many chips do together
};

/// What one price comes to.
struct CostShare {
    bool bought = false;  ///< or rented
    PriceOrigin origin;
    double usd_per_hour = 0;  ///< that is paid for, with the electricity of the hours in which it works
    double usd_per_run = 0;   ///< on this device
    std::optional<double> electricity_usd_per_run;  ///< of that, where it was bought; a rent has it in it
    std::optional<double> usd_per_million_tokens;   ///< these and the next of all devices that share the run
    std::optional<double> usd_per_1000_items;       ///< of RunWork::batch_of, other than tokens
    std::optional<double> usd_per_step;
};

struct RunCost {
    double utilization = 1;
    std::vector<CostShare> prices;  ///< the rent first
};

/// "" if `spec` is enough for a cost, and otherwise what is missing and how to give it. `has_energy`: whether
/// the energy of the whole device is known.
std::string missing_for_cost(const CostSpec& spec, bool has_energy);

/// Of the prices that there are; of a purchase only where `work` has an energy.
RunCost cost_of(const CostSpec& spec, const RunWork& work);

struct DeviceResult;

/// A table of the devices on one trace that have a cost, and a sentence for each price: where it is from.
std::string cost_text(const std::vector<DeviceResult>& devices, const TextStyle& style = {});

}  // namespace systole
