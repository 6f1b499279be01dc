// SPDX-License-Identifier: Apache-2.0
#include "sim/account/cost.h"

namespace systole {
namespace {

constexpr double kHoursPerYear = 365.25 * 24;
constexpr double kJoulesPerKwh = 3.6e6;

/// Fills in what a run on one device comes to for what all devices get through.
void spread(CostShare& share, const RunWork& work) {
    if (work.serving) {
        const auto tokens = static_cast<double>(work.serving->tokens());
        // A replica's tokens are made by all of its chips; replicas pay and make alike.
        const auto chips = static_cast<double>(work.serving->tensor_parallel);
        share.usd_per_million_tokens = share.usd_per_run * chips / tokens * 1e6;
    }
    if (work.batch_of) {
        const double each = share.usd_per_run / static_cast<double>(work.batch_of->count);
        if (work.batch_of->item == BatchOf::Item::Tokens)
            share.usd_per_million_tokens = each * 1e6;
        else
            share.usd_per_1000_items = each * 1e3;
    }
    if (work.step_chips) share.usd_per_step = share.usd_per_run * static_cast<double>(*work.step_chips);
}

}  // namespace

std::string missing_for_cost(const CostSpec& spec, bool has_energy) {
    if (!spec.rent && !spec.purchase)
        return "cost.rent or cost.purchase is missing; expected a price of the device: --set cost.rent='3.2 "
               "USD/h'";
    if (spec.purchase && !has_energy)
        return "the energy of the whole device is missing, and with it the electricity of one that was "
               "bought "
               "(cost.purchase); expected a device with figures for its energy, or cost.rent alone";
    return "";
}

RunCost cost_of(const CostSpec& spec, const RunWork& work) {
    const double hours = static_cast<double>(work.time.value()) * 1e-12 / 3600;
    RunCost cost{spec.utilization, {}};
    if (spec.rent) {
        CostShare share;
        share.origin = spec.rent->origin;
        share.usd_per_hour = spec.rent->usd_per_hour;
        share.usd_per_run = share.usd_per_hour * hours / spec.utilization;
        spread(share, work);
        cost.prices.push_back(std::move(share));
    }
    if (spec.purchase && work.energy) {
        CostShare share;
        share.bought = true;
        share.origin = spec.purchase->origin;
        const double kwh = static_cast<double>(work.energy->value()) * 1e-15 / kJoulesPerKwh;
        const double electricity =
            kwh * spec.purchase->power_overhead * spec.purchase->electricity_usd_per_kwh;
        const double written_off = spec.purchase->usd / (spec.purchase->life_years * kHoursPerYear);
        share.electricity_usd_per_run = electricity;
        share.usd_per_run = written_off * hours / spec.utilization + electricity;
        share.usd_per_hour = written_off + (hours > 0 ? electricity / hours * spec.utilization : 0);
        spread(share, work);
        cost.prices.push_back(std::move(share));
    }
    return cost;
}

}  // namespace systole
