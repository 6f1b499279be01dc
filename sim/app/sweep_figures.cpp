// SPDX-License-Identifier: Apache-2.0
#include "sim/app/sweep_figures.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "sim/account/device_energy.h"
#include "sim/account/serving_rates.h"
#include "sim/config/quantity.h"

namespace systole::app {
namespace {

using sweep::Metric;
using sweep::MetricKind;

/// Without an exponent, as all numbers here are read.
std::string number(double value) {
    return config::format_number(value);
}

constexpr std::array kCosts{"usd_per_run", "usd_per_million_tokens", "usd_per_1000_images", "usd_per_step"};

/// Those of kCosts, by the rent where there is one, else by the purchase.
std::array<std::optional<double>, kCosts.size()> costs(const DeviceResult& result) {
    if (!result.cost || result.cost->prices.empty()) return {};
    const CostShare& share = result.cost->prices.front();
    const bool images = result.batch_of && result.batch_of->item == BatchOf::Item::Images;
    return {share.usd_per_run, share.usd_per_million_tokens, images ? share.usd_per_1000_items : std::nullopt,
            share.usd_per_step};
}

}  // namespace

const std::vector<MetricKind>& figure_kinds() {
    static const std::vector<MetricKind> kinds = [] {
        std::vector<MetricKind> all{{"cycles"}, {"time_ns"}, {"macs"}, {"utilization", true, true}};
        for (std::size_t i = 0; i < kSlotClasses; ++i)
            all.push_back({std::string(to_string(static_cast<SlotClass>(i))), true, i == 0});
        for (const char* name : {"dram_read", "dram_written", "compulsory_dram", "roofline_cycles"})
            all.push_back({name});
        for (const char* name : {"roofline_bound", "bound_by"}) all.push_back({name, false});
        for (const char* name : {"energy_pj", "power_w", "peak_w"}) all.push_back({name});
        all.push_back({"gops_per_w", true, true});
        all.push_back({"tokens_per_s", true, true});
        for (const char* name : kCosts) all.push_back({name});
        all.push_back({"fidelity", false});
        return all;
    }();
    return kinds;
}

std::vector<Metric> figures(const DeviceResult& result) {
    const ResultRow& total = result.total;
    std::vector<std::string> values{fmt::to_string(total.cycles.value()),
                                    number(static_cast<double>(total.time().value()) / 1000),
                                    fmt::to_string(total.macs.value()), number(total.utilization())};
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        values.push_back(number(total.fraction(static_cast<SlotClass>(i))));
    for (const std::int64_t count : {total.dram_read.value(), total.dram_written.value(),
                                     total.compulsory_dram.value(), total.roofline.floor().value()})
        values.push_back(fmt::to_string(count));
    values.emplace_back(total.roofline.bound());
    values.push_back(total.bound_by);
    // Of devices without figures the memory's would be too little.
    const std::optional<PowerDrawn> power = power_drawn(result);
    values.push_back(
        result.energy_is_whole ? number(static_cast<double>(result.energy.total().value()) / 1000) : "");
    values.push_back(power ? number(power->average_w) : "");
    values.push_back(power ? number(power->peak_w) : "");
    values.push_back(power ? number(power->operations_per_joule / 1e9) : "");
    values.push_back(result.serving ? number(serving_rates(*result.serving, total.time()).tokens_per_s) : "");
    for (const std::optional<double>& usd : costs(result)) values.push_back(usd ? number(*usd) : "");
    values.emplace_back(to_string(result.fidelity));
    std::vector<Metric> all;
    for (std::size_t i = 0; i < values.size(); ++i) all.push_back({figure_kinds()[i].name, values[i]});
    return all;
}

std::string missing_for_figure(const DeviceResult& said, const std::string& figure) {
    const auto is_of = [&](BatchOf::Item item) { return said.batch_of && said.batch_of->item == item; };
    if (figure == "usd_per_million_tokens" && !said.serving && !is_of(BatchOf::Item::Tokens))
        return "it says nothing of tokens; expected 'serving', or 'batch_of: {tokens: …}', in the trace";
    if (figure == "usd_per_1000_images" && !is_of(BatchOf::Item::Images))
        return "it says nothing of images; expected 'batch_of: {images: …}' in the trace";
    if (figure == "usd_per_step" && !said.step_chips)
        return "it is no step of training; expected 'training' in the trace";
    return "";
}

}  // namespace systole::app
