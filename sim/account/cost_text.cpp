// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/account/cost.h"
#include "sim/account/run_result.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"

namespace systole {
namespace {

/// Four significant digits without an exponent, as tables of prices have them: "0.001341", "12.35".
std::string dollars(double value) {
    if (value <= 0) return "0";
    const int before = static_cast<int>(std::floor(std::log10(value)));
    return fmt::format("{:.{}f}", value, std::clamp(3 - before, 2, 15));
}

std::string dollars(const std::optional<double>& value) {
    return value ? dollars(*value) : "";
}

using Figure = std::optional<double> CostShare::*;

bool any_has(const std::vector<DeviceResult>& devices, Figure figure) {
    return std::any_of(devices.begin(), devices.end(), [&](const DeviceResult& device) {
        return device.cost &&
               std::any_of(device.cost->prices.begin(), device.cost->prices.end(),
                           [&](const CostShare& share) { return (share.*figure).has_value(); });
    });
}

/// Columns that some device has a figure for.
std::vector<std::pair<std::string, Figure>> figures_of(const std::vector<DeviceResult>& devices) {
    std::vector<std::pair<std::string, Figure>> figures;
    const std::optional<BatchOf>& batch = devices.front().batch_of;
    if (any_has(devices, &CostShare::usd_per_million_tokens))
        figures.emplace_back("USD/million tokens", &CostShare::usd_per_million_tokens);
    if (batch && any_has(devices, &CostShare::usd_per_1000_items))
        figures.emplace_back(fmt::format("USD/1,000 {}", to_string(batch->item)),
                             &CostShare::usd_per_1000_items);
    if (any_has(devices, &CostShare::usd_per_step))
        figures.emplace_back("USD/step", &CostShare::usd_per_step);
    return figures;
}

std::string electricity_of(const CostShare& share) {
    if (!share.electricity_usd_per_run) return "in the rent";
    const double whole = share.usd_per_run > 0 ? share.usd_per_run : 1;
    return format_percent(*share.electricity_usd_per_run / whole) + " %";
}

/// "tpu_v5e: rent of 2025-02, sourced: …"
std::string origin_sentence(const std::string& device, const CostShare& share) {
    return fmt::format("{}: {}{}, {}\n", device, share.bought ? "purchase" : "rent",
                       share.origin.on.empty() ? "" : " of " + share.origin.on, share.origin.source);
}

}  // namespace

std::string cost_text(const std::vector<DeviceResult>& devices, const TextStyle& style) {
    using Align = TextTable::Align;
    const auto figures = figures_of(devices);
    TextTable table;
    for (const char* name : {"device", "price"}) table.column(name, Align::Left);
    for (const char* name : {"USD/h", "worked %", "USD/run"}) table.column(name, Align::Right);
    for (const auto& [name, figure] : figures) table.column(name, Align::Right);
    table.column("electricity", Align::Right);
    std::string origins;
    for (const DeviceResult& device : devices) {
        if (!device.cost) continue;
        for (const CostShare& share : device.cost->prices) {
            const std::string on = share.origin.on.empty() ? "" : ", " + share.origin.on;
            std::vector<std::string> cells{
                device.device, (share.bought ? "bought" : "rented") + on, dollars(share.usd_per_hour),
                format_percent(device.cost->utilization), dollars(share.usd_per_run)};
            for (const auto& [name, figure] : figures) cells.push_back(dollars(share.*figure));
            cells.push_back(electricity_of(share));
            table.row(std::move(cells));
            origins += origin_sentence(device.device, share);
        }
    }
    return table.str(style) + '\n' + origins;
}

}  // namespace systole
