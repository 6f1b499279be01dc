// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/account/device_energy.h"
#include "sim/account/result_style.h"
#include "sim/account/serving_rates.h"
#include "sim/account/writers.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"

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

using Classes = std::vector<SlotClass>;

std::string class_cell(const ResultRow& row, SlotClass slot_class) {
    return format_percent(row.fraction(slot_class));
}

std::string short_name(SlotClass slot_class) {
    return std::string(kShortNames.at(static_cast<std::size_t>(slot_class)));
}

/// The classes that print as something else than 0.0 in some row.
Classes shown_classes(const DeviceResult& result) {
    Classes shown;
    for (std::size_t i = 0; i < kSlotClasses; ++i) {
        const auto slot_class = static_cast<SlotClass>(i);
        const auto visible = [&](const ResultRow& row) { return class_cell(row, slot_class) != "0.0"; };
        if (visible(result.total) || std::any_of(result.layers.begin(), result.layers.end(), visible))
            shown.push_back(slot_class);
    }
    return shown;
}

/// On narrow terminals, bytes and roofs leave first, then classes, of which the run had least first.
constexpr int kFirstToGo = 20;

/// Of a class: 1 for the one that the run had most of.
int rank_of(SlotClass slot_class, const ResultRow& total) {
    return 1 + static_cast<int>(std::ranges::count_if(total.slots, [&](std::int64_t slots) {
               return slots > total.slots.at(static_cast<std::size_t>(slot_class));
           }));
}

constexpr std::size_t kFirstClass = 5;  // column, behind layer, op, cycles, time and utilization

TextTable make_table(const DeviceResult& result, const Classes& classes) {
    TextTable table;
    table.column("layer", Align::Left);
    table.column("op", Align::Left);
    table.dispensable(kFirstToGo - 4);
    for (const char* name : {"cycles", "time", "util %"}) table.column(name, Align::Right);
    for (const SlotClass slot_class : classes) {
        table.column(short_name(slot_class), Align::Right);
        table.dispensable(rank_of(slot_class, result.total));
    }
    table.column(result.memory == "sram" ? "SRAM read" : "DRAM read", Align::Right);
    table.dispensable(kFirstToGo - 2);
    table.column("written", Align::Right);
    table.dispensable(kFirstToGo);
    table.column("roofline", Align::Right);
    table.dispensable(kFirstToGo - 1);
    table.column("roof", Align::Left);
    table.dispensable(kFirstToGo - 1);
    table.column("bound by", Align::Left);
    if (result.energy_is_whole) table.column("energy", Align::Right);
    if (result.energy_is_whole) table.dispensable(kFirstToGo - 3);
    return table;
}

void add_row(TextTable& table, const ResultRow& row, std::string name, const Classes& classes, bool energy) {
    std::vector<std::string> cells{std::move(name), row.op, with_thousands(row.cycles.value()),
                                   format_time(row.time()), format_percent(row.utilization())};
    for (const SlotClass slot_class : classes) cells.push_back(class_cell(row, slot_class));
    cells.push_back(format_bytes(row.dram_read));
    cells.push_back(format_bytes(row.dram_written));
    cells.push_back(with_thousands(row.roofline.floor().value()));
    cells.emplace_back(row.roofline.bound());
    cells.push_back(row.bound_by);
    const std::size_t bound_column = cells.size() - 1;
    if (energy) cells.push_back(format_energy(energy_of(row)));
    table.row(std::move(cells));
    ink_classes(table, kFirstClass, classes, row);
    table.ink(bound_column, bound_ink(row.bound_by));
}

/// "conv1 to pool1 ran in 8 slices of the batch, one after the other: each row is the sum of its slices."
std::string slices_lines(const std::vector<ResultRow>& layers) {
    std::string text;
    for (auto first = layers.begin(); first != layers.end();) {
        const auto end = std::find_if(first, layers.end(),
                                      [&](const ResultRow& row) { return row.slices != first->slices; });
        if (first->slices > 1)
            text += fmt::format(
                "{} ran in {} slices of the batch, one after the other: {} of its slices.\n",
                end - first == 1 ? first->name : fmt::format("{} to {}", first->name, (end - 1)->name),
                first->slices, end - first == 1 ? "its row is the sum" : "each row is the sum");
        first = end;
    }
    return text;
}

/// What the table itself does not say: what its columns count, and what was left out of it.
std::string footer(const DeviceResult& result, const Classes& classes) {
    std::string text = "Classes in % of matrix capacity; roofline in cycles.";
    std::string dropped;
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        if (const auto each = static_cast<SlotClass>(i); !std::ranges::count(classes, each))
            dropped += (dropped.empty() ? "" : ", ") + short_name(each);
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
        text += fmt::format(
            "* taken over from equal turns, steps or CTAs, at least in part, instead of simulated{}\n",
            result.reuse ? fmt::format(";\n  of the whole run {}", known_time_phrase(result)) : "");
    return text + slices_lines(result.layers);
}

constexpr std::size_t kMostBars = 60, kUtilizationWords = 46;  // characters

/// "Utilization over time: ▁▁▃▅█ (0 to 62.1 %, a bar is 2.743 us)": of runs of several layers.
std::string utilization_line(const DeviceResult& result, const TextStyle& style) {
    if (!style.pictures || result.layers.size() < 2) return "";
    const std::size_t room = style.width - std::min(style.width, kUtilizationWords);
    const std::vector<double> bins =
        utilization_over_time(result, std::clamp<std::size_t>(room, 10, kMostBars));
    const double most = bins.empty() ? 0 : *std::ranges::max_element(bins);
    if (most == 0) return "";
    const Ticks bar(result.total.time().value() / static_cast<std::int64_t>(bins.size()));
    return fmt::format("Utilization over time: {} (0 to {} %, a bar is {})\n",
                       painted(sparkline(bins, most), class_ink(SlotClass::Useful), style),
                       format_percent(most), format_time(bar));
}

}  // namespace

std::string to_text(const DeviceResult& result, const TextStyle& style) {
    const Classes classes = shown_classes(result);
    const bool energy = result.energy_is_whole;
    TextTable table = make_table(result, classes);
    for (const ResultRow& row : result.layers)
        add_row(table, row, row.name + (row.reused ? " *" : ""), classes, energy);
    table.rule();
    add_row(table, result.total, "total", classes, energy);
    table.ink(kStrong);
    return painted(header_line(result), kStrong, style) + "\n\n" + outline_line(result) + table.str(style) +
           '\n' + left_out_line(table, style) + footer(result, classes) + utilization_line(result, style) +
           (result.serving ? serving_sentence(*result.serving, result.total.time()) + '\n' : "") +
           (result.choices.empty() ? "" : choices_sentence(result) + '\n') + critical_path_sentence(result) +
           '\n' + roofline_sentence(result) + '\n' + ceilings_sentence(result) + '\n' +
           (result.memory_bus.empty() ? "" : memory_bus_sentence(result) + '\n') +
           (result.energy.empty() ? "" : energy_sentence(result) + '\n');
}

}  // namespace systole
