// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/account/device_energy.h"
#include "sim/account/serving_rates.h"
#include "sim/account/writers.h"
#include "sim/base/text.h"

namespace systole {
namespace {

/// Ten columns have to fit beside the others, so the keys are abbreviated.
constexpr std::array<std::string_view, kSlotClasses> kShortNames{"useful", "pad", "ramp", "host",   "mem",
                                                                 "onchip", "dep", "vec",  "launch", "tail"};

using Align = TextTable::Align;

std::string header_line(const DeviceResult& result) {
    std::string text = fmt::format("{}  {}  {} MHz", result.device, result.trace,
                                   static_cast<double>(result.clock.value()) / 1e6);
    for (const auto& [key, value] : result.protocol) text += fmt::format("  {}={}", key, value);
    return text;
}

/// Ahead of all figures, because it is about all of them.
std::string outline_line(const DeviceResult& result) {
    const std::string sentence = fidelity_sentence(result.fidelity);
    return sentence.empty() ? "" : sentence + "\n\n";
}

std::string class_cell(const ResultRow& row, std::size_t i) {
    return format_percent(row.fraction(static_cast<SlotClass>(i)));
}

/// The classes that print as something else than 0.0 in some row.
std::vector<std::size_t> shown_classes(const DeviceResult& result) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < kSlotClasses; ++i) {
        const auto visible = [i](const ResultRow& row) { return class_cell(row, i) != "0.0"; };
        if (visible(result.total) || std::any_of(result.layers.begin(), result.layers.end(), visible))
            shown.push_back(i);
    }
    return shown;
}

TextTable make_table(const std::vector<std::size_t>& classes, const std::string& memory, bool energy) {
    TextTable table;
    table.column("layer", Align::Left);
    table.column("op", Align::Left);
    for (const char* name : {"cycles", "time", "util %"}) table.column(name, Align::Right);
    for (const std::size_t i : classes) table.column(std::string(kShortNames[i]), Align::Right);
    for (const char* name : {memory == "sram" ? "SRAM read" : "DRAM read", "written", "roofline"})
        table.column(name, Align::Right);
    table.column("roof", Align::Left);
    table.column("bound by", Align::Left);
    if (energy) table.column("energy", Align::Right);
    return table;
}

std::vector<std::string> cells(const ResultRow& row, std::string name,
                               const std::vector<std::size_t>& classes, bool energy) {
    std::vector<std::string> cells{std::move(name), row.op, with_thousands(row.cycles.value()),
                                   format_time(row.time()), format_percent(row.utilization())};
    for (const std::size_t i : classes) cells.push_back(class_cell(row, i));
    cells.push_back(format_bytes(row.dram_read));
    cells.push_back(format_bytes(row.dram_written));
    cells.push_back(with_thousands(row.roofline.floor().value()));
    cells.emplace_back(row.roofline.bound());
    cells.push_back(row.bound_by);
    if (energy) cells.push_back(format_energy(energy_of(row)));
    return cells;
}

/// What the table itself does not say: what its columns count, and what was left out of it.
std::string footer(const DeviceResult& result, const std::vector<std::size_t>& classes) {
    std::string text = "Classes in % of matrix capacity; roofline in cycles.";
    std::string dropped;
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        if (std::find(classes.begin(), classes.end(), i) == classes.end())
            dropped += fmt::format("{}{}", dropped.empty() ? "" : ", ", kShortNames[i]);
    if (!dropped.empty()) text += fmt::format(" Not shown, 0.0 in every row: {}.", dropped);
    text += '\n';
    if (std::any_of(result.layers.begin(), result.layers.end(),
                    [](auto& row) { return row.cycles < row.roofline.floor(); }))
        text +=
            "A layer's cycles run from the end of the layer before to its own; work done ahead of that "
            "(prefetch)\n"
            "lets it beat its roofline and shows up as useful slots of the layer it ran beside. Totals do "
            "neither.\n";
    if (std::any_of(result.layers.begin(), result.layers.end(), [](auto& row) { return row.reused; }))
        text += "* taken over from an identical block instead of simulated\n";
    return text;
}

}  // namespace

std::string to_text(const DeviceResult& result) {
    const std::vector<std::size_t> classes = shown_classes(result);
    const bool energy = result.energy_is_whole;
    TextTable table = make_table(classes, result.memory, energy);
    for (const ResultRow& row : result.layers)
        table.row(cells(row, row.name + (row.reused ? " *" : ""), classes, energy));
    table.rule();
    table.row(cells(result.total, "total", classes, energy));
    return header_line(result) + "\n\n" + outline_line(result) + table.str() + '\n' +
           footer(result, classes) +
           (result.serving ? serving_sentence(*result.serving, result.total.time()) + '\n' : "") +
           (result.choices.empty() ? "" : choices_sentence(result) + '\n') + critical_path_sentence(result) +
           '\n' + roofline_sentence(result) + '\n' + ceilings_sentence(result) + '\n' +
           (result.memory_bus.empty() ? "" : memory_bus_sentence(result) + '\n') +
           (result.energy.empty() ? "" : energy_sentence(result) + '\n');
}

}  // namespace systole
