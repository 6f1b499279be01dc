// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "sim/account/comparison.h"
#include "sim/account/device_energy.h"
#include "sim/account/result_style.h"
#include "sim/account/writers.h"
#include "sim/base/csv.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"

namespace systole {
namespace {

using Align = TextTable::Align;

constexpr std::size_t kTold = 10;  // layers, of which sentences are said unless all are asked for

std::string tops(const DeviceResult& device) {
    const double rate = 2 * device.peaks.macs.per_cycle() * static_cast<double>(device.clock.value()) / 1e12;
    return fmt::format("{:.4g}", rate);
}

/// Bytes out of a place and into it, of the whole run.
Bytes passed(const ResultRow& row, const std::set<Place>& places) {
    Bytes sum;
    for (const Movement& movement : row.movements)
        if (places.contains(movement.from) || places.contains(movement.to)) sum += movement.bytes;
    return sum;
}

std::vector<SlotClass> shown_classes(const Comparison& comparison) {
    std::vector<SlotClass> shown;
    for (std::size_t i = 0; i < kSlotClasses; ++i) {
        const auto slot_class = static_cast<SlotClass>(i);
        if (std::ranges::any_of(comparison.devices, [slot_class](const DeviceResult& device) {
                return format_percent(device.total.fraction(slot_class)) != "0.0";
            }))
            shown.push_back(slot_class);
    }
    return shown;
}

/// Energy, average power and operations per joule; "-" of a device without figures.
void add_power(const DeviceResult& device, std::vector<std::string>& cells) {
    const std::optional<PowerDrawn> drawn = power_drawn(device);
    if (!drawn) return static_cast<void>(cells.insert(cells.end(), 3, "-"));
    cells.push_back(format_energy(device.energy.total()));
    cells.push_back(fmt::format("{:.4g} W", drawn->average_w));
    cells.push_back(fmt::format("{:.3g}", drawn->operations_per_joule / 1e12));
}

constexpr std::size_t kFirstClass = 5;  // column, behind device, time, speed, peak and utilization
/// On narrow terminals, leave first to last: bytes and roofs, power, classes, the peak.
enum LeavesFirst : std::uint8_t { Peak = 1, Class, Power = Class + kSlotClasses, Roof, Moved };

/// What all devices together have of a class, each as a fraction of its own capacity.
double shares(const Comparison& comparison, SlotClass slot_class) {
    double sum = 0;
    for (const DeviceResult& device : comparison.devices) sum += device.total.fraction(slot_class);
    return sum;
}

TextTable totals_table(const Comparison& comparison, const std::vector<SlotClass>& classes, bool power) {
    TextTable table;
    const auto larger = [&](SlotClass than) {
        return static_cast<int>(std::ranges::count_if(classes, [&](SlotClass slot_class) {
            return shares(comparison, slot_class) > shares(comparison, than);
        }));
    };
    const auto add = [&table](const std::string& name, Align align, int rank) {
        table.column(name, align);
        table.dispensable(rank);
    };
    table.column("device", Align::Left);
    for (const char* name : {"time", "speed"}) table.column(name, Align::Right);
    add("peak TOPS", Align::Right, Peak);
    table.column("util %", Align::Right);
    for (const SlotClass slot_class : classes)
        add(std::string(to_string(slot_class)), Align::Right, Class + larger(slot_class));
    for (const char* name : {"host", "memory"}) add(name, Align::Right, Moved);
    add("roofline", Align::Right, Roof);
    add("roof", Align::Left, Roof);
    table.column("bound by", Align::Left);
    if (power)
        for (const char* name : {"energy", "power", "TOPS/W"}) add(name, Align::Right, Power);
    return table;
}

std::string totals(const Comparison& comparison, const TextStyle& style) {
    const std::vector<SlotClass> classes = shown_classes(comparison);
    const bool power =
        std::ranges::any_of(comparison.devices, [](const auto& device) { return device.energy_is_whole; });
    TextTable table = totals_table(comparison, classes, power);
    const Ticks slowest = *std::ranges::max_element(comparison.total.times);
    for (const DeviceResult& device : comparison.devices) {
        const ResultRow& total = device.total;
        const auto time = static_cast<double>(std::max<std::int64_t>(1, total.time().value()));
        const Ticks roofline(static_cast<std::int64_t>(static_cast<double>(total.roofline.floor().value()) *
                                                       static_cast<double>(kTicksPerSecond) /
                                                       static_cast<double>(device.clock.value())));
        std::vector<std::string> cells{device.device, format_time(total.time()),
                                       fmt::format("{:.2f}x", static_cast<double>(slowest.value()) / time),
                                       tops(device), format_percent(total.utilization())};
        for (const SlotClass slot_class : classes)
            cells.push_back(format_percent(total.fraction(slot_class)));
        cells.push_back(format_bytes(passed(total, {Place::Host})));
        cells.push_back(format_bytes(total.dram_read + total.dram_written));
        cells.push_back(format_time(roofline));
        cells.emplace_back(total.roofline.bound());
        cells.push_back(total.bound_by);
        const std::size_t bound_column = cells.size() - 1;
        if (power) add_power(device, cells);
        table.row(cells);
        ink_classes(table, kFirstClass, classes, total);
        table.ink(bound_column, bound_ink(total.bound_by));
    }
    return table.str(style) + '\n' + left_out_line(table, style);
}

/// A device's columns: its time, utilization, and what bounds it.
constexpr std::size_t kDeviceColumns = 3, kFirstDevice = 2;

std::string layers(const Comparison& comparison, const TextStyle& style) {
    TextTable table;
    table.column("layer", Align::Left);
    table.column("op", Align::Left);
    table.dispensable(3);
    for (const DeviceResult& device : comparison.devices) {
        table.column(device.device, Align::Right);
        table.column("util %", Align::Right);
        table.dispensable(1);
        table.column("bound by", Align::Left);
        table.dispensable(2);
    }
    table.column("fastest", Align::Left);
    table.column("by", Align::Right);
    const auto add = [&](const Standing& standing, const auto& row_of) {
        std::vector<std::string> cells{standing.name, standing.op};
        for (std::size_t d = 0; d < comparison.devices.size(); ++d) {
            const ResultRow& row = row_of(d);
            cells.insert(cells.end(),
                         {format_time(row.time()), format_percent(row.utilization()), row.bound_by});
        }
        const bool alone = standing.times[standing.next] == standing.times[standing.winner];
        cells.push_back(alone ? "" : comparison.devices[standing.winner].device);
        cells.push_back(alone || standing.factor == 0 ? "" : fmt::format("{:.2f}x", standing.factor));
        table.row(cells);
        for (std::size_t d = 0; d < comparison.devices.size(); ++d)
            table.ink(kFirstDevice + kDeviceColumns * d + 2, bound_ink(row_of(d).bound_by));
        if (!alone) table.ink(kFirstDevice + kDeviceColumns * standing.winner, kStrong);
    };
    for (std::size_t i = 0; i < comparison.layers.size(); ++i)
        add(comparison.layers[i], [&](std::size_t d) -> const ResultRow& { return comparison.rows[d][i]; });
    table.rule();
    add(comparison.total, [&](std::size_t d) -> const ResultRow& { return comparison.devices[d].total; });
    return table.str(style) + '\n' + left_out_line(table, style);
}

/// A line for each device, from 0 to its own highest.
std::string utilization_lines(const Comparison& comparison, const TextStyle& style) {
    constexpr std::size_t kBars = 40;
    if (!style.pictures || comparison.layers.size() < 2) return "";
    TextTable table;
    table.column("device", Align::Left);
    table.column("utilization over its run's time", Align::Left);
    table.column("highest %", Align::Right);
    for (const DeviceResult& device : comparison.devices) {
        const std::vector<double> bins = utilization_over_time(device, kBars);
        const double most = bins.empty() ? 0 : *std::ranges::max_element(bins);
        table.row({device.device, most == 0 ? "" : sparkline(bins, most), format_percent(most)});
        table.ink(1, class_ink(SlotClass::Useful));
    }
    return table.str(style) + '\n';
}

/// Layers of the largest difference first taken, then told in the order of the trace.
std::vector<std::size_t> told_layers(const Comparison& comparison, bool all) {
    std::vector<std::size_t> order(comparison.layers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (all || order.size() <= kTold) return order;
    const auto difference = [&](std::size_t i) {
        const Standing& standing = comparison.layers[i];
        return standing.times[standing.next] - standing.times[standing.winner];
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return difference(a) > difference(b); });
    order.resize(kTold);
    std::sort(order.begin(), order.end());
    return order;
}

/// A line each; neighbours of which the same is to be said share one.
std::string sentences(const Comparison& comparison, const std::vector<std::size_t>& told) {
    std::string text;
    for (std::size_t i = 0; i < told.size();) {
        const Standing& first = comparison.layers[told[i]];
        std::size_t end = i + 1;
        while (end < told.size() && told[end] == told[end - 1] + 1 &&
               comparison.layers[told[end]].why == first.why)
            ++end;
        const std::string& last = comparison.layers[told[end - 1]].name;
        text += fmt::format("{}{}: {}\n", first.name, end == i + 1 ? "" : " to " + last, first.why);
        i = end;
    }
    return text;
}

std::string cells_of(const Comparison& comparison, const Standing& standing, std::size_t device,
                     const ResultRow& row) {
    std::vector<std::string> cells{comparison.trace,
                                   standing.name,
                                   standing.op,
                                   comparison.devices[device].device,
                                   fmt::to_string(static_cast<double>(row.time().value()) / 1000),
                                   fmt::to_string(row.cycles.value()),
                                   fmt::to_string(row.utilization())};
    for (std::size_t c = 0; c < kSlotClasses; ++c)
        cells.push_back(fmt::to_string(row.fraction(static_cast<SlotClass>(c))));
    for (const std::int64_t count :
         {row.dram_read.value(), row.dram_written.value(), row.roofline.floor().value()})
        cells.push_back(fmt::to_string(count));
    const auto least = static_cast<double>(standing.times[standing.winner].value());
    const double factor = least > 0 ? static_cast<double>(row.time().value()) / least : 0;
    cells.insert(cells.end(), {std::string(row.roofline.bound()), row.bound_by, row.mapping,
                               standing.winner == device ? "1" : "0", least > 0 ? fmt::to_string(factor) : "",
                               std::string(to_string(comparison.devices[device].fidelity))});
    return csv_line(cells);
}

}  // namespace

std::string to_text(const Comparison& comparison, bool all, const TextStyle& style) {
    std::string text =
        painted(comparison.trace, kStrong, style) + "\n\n" + totals(comparison, style) +
        "Classes in % of each device's own matrix capacity; speed beside the slowest; host and memory: "
        "bytes moved.\n";
    for (const DeviceResult& device : comparison.devices)
        if (device.fidelity == Fidelity::Outline)
            text += fidelity_sentence(device.fidelity, device.device) + '\n';
    text += comparison.total.why.empty() ? "" : comparison.total.why + '\n';
    if (comparison.layers.empty()) return text;
    text += '\n' + utilization_lines(comparison, style) + layers(comparison, style);
    if (comparison.devices.size() < 2) return text;
    const std::vector<std::size_t> told = told_layers(comparison, all);
    text += sentences(comparison, told);
    if (told.size() < comparison.layers.size())
        text += fmt::format("These are the {} layers of the largest differences; --all says all {}.\n",
                            told.size(), comparison.layers.size());
    return text;
}

std::string to_csv(const std::vector<Comparison>& comparisons) {
    std::string text = "trace,layer,op,device,time_ns,cycles,utilization";
    for (std::size_t c = 0; c < kSlotClasses; ++c)
        text += fmt::format(",{}", to_string(static_cast<SlotClass>(c)));
    text +=
        ",dram_read,dram_written,roofline_cycles,roofline_bound,bound_by,mapping,fastest,times_fastest,"
        "fidelity\n";
    for (const Comparison& comparison : comparisons) {
        for (std::size_t i = 0; i < comparison.layers.size(); ++i)
            for (std::size_t d = 0; d < comparison.devices.size(); ++d)
                text += cells_of(comparison, comparison.layers[i], d, comparison.rows[d][i]);
        for (std::size_t d = 0; d < comparison.devices.size(); ++d)
            text += cells_of(comparison, comparison.total, d, comparison.devices[d].total);
    }
    return text;
}

}  // namespace systole
