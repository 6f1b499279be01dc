// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "models/devices/systolic/explain/page.h"
#include "models/devices/systolic/explain/sections.h"
#include "sim/base/check.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"

namespace systole::systolic {
namespace {

/// Cycles by class, averaged over all matrix units: they sum to the time.
using ClassCycles = std::array<double, kSlotClasses>;

double& of(ClassCycles& cycles, SlotClass slot_class) {
    return cycles[static_cast<std::size_t>(slot_class)];
}

/// What an array's time goes to when nothing outside the arrays holds it up.
ClassCycles alone_by_class(const Explained& e) {
    const ArrayWork& work = e.work;
    const auto units = static_cast<double>(e.times.size());
    const double per_cycle = work.peak() * units;
    const std::int64_t longest = e.times[e.slowest_unit()].cycles();
    std::int64_t own = 0, waits = 0;
    for (const UnitTime& time : e.times) {
        own += time.cycles();
        waits += time.accumulator_waits;
    }
    ClassCycles cycles{};
    of(cycles, SlotClass::Useful) = static_cast<double>(work.useful_slots) / per_cycle;
    of(cycles, SlotClass::Padding) = static_cast<double>(work.slots() - work.useful_slots) / per_cycle;
    of(cycles, SlotClass::Ramp) = static_cast<double>(own - waits - work.stream_cycles()) / units;
    of(cycles, SlotClass::OnChip) = static_cast<double>(waits) / units;
    of(cycles, SlotClass::Tail) =
        static_cast<double>(longest * static_cast<std::int64_t>(e.times.size()) - own) / units;
    return cycles;
}

ClassCycles simulated_by_class(const ResultRow& total) {
    ClassCycles cycles{};
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        cycles[i] = total.fraction(static_cast<SlotClass>(i)) * static_cast<double>(total.cycles.value());
    return cycles;
}

const char* meaning(SlotClass slot_class) {
    constexpr std::array kMeanings{"products of real data",
                                   "PEs beyond the edge of a ragged tile",
                                   "shift, fill and drain that no stream hides",
                                   "waiting for the host's link",
                                   "waiting for DRAM",
                                   "scratchpad ports and banks, accumulators",
                                   "waiting for an earlier tile",
                                   "waiting for the vector unit",
                                   "issue of commands, launch",
                                   "this unit has no work left"};
    return kMeanings[static_cast<std::size_t>(slot_class)];
}

/// "12.3", or "" for what prints as nothing.
std::string cell(double cycles) {
    const double rounded = std::round(cycles * 10) / 10;
    if (rounded == 0) return "-";
    return (rounded < 0 ? "-" : "") + with_thousands(static_cast<std::int64_t>(std::fabs(rounded))) +
           fmt::format(".{}", static_cast<std::int64_t>(std::llround(std::fabs(rounded) * 10)) % 10);
}

std::string class_table(const Explained& e) {
    const ClassCycles alone = alone_by_class(e), simulated = simulated_by_class(e.result.total);
    TextTable table;
    table.column("class", TextTable::Align::Left);
    for (const char* name : {"arrays alone", "simulated", "more", "% of run"})
        table.column(name, TextTable::Align::Right);
    table.column("what it is", TextTable::Align::Left);
    for (std::size_t i = 0; i < kSlotClasses; ++i) {
        const auto slot_class = static_cast<SlotClass>(i);
        if (cell(alone[i]) == "-" && cell(simulated[i]) == "-") continue;
        table.row({std::string(to_string(slot_class)), cell(alone[i]), cell(simulated[i]),
                   cell(simulated[i] - alone[i]), format_percent(e.result.total.fraction(slot_class)),
                   meaning(slot_class)});
    }
    const std::int64_t longest = e.times[e.slowest_unit()].cycles(), run = e.result.total.cycles.value();
    table.rule();
    table.row({"cycles", with_thousands(longest), with_thousands(run), with_thousands(run - longest), "100.0",
               e.times.size() > 1 ? "classes: mean of all MXUs" : ""});
    return indented(table);
}

std::string formula_line(const std::string& name, const Formula& formula) {
    const std::string line = fmt::format("   {:<20} {}", name, formula.symbols);
    const std::string sum =
        fmt::format(" = {} = {} cycles\n", formula.numbers, with_thousands(formula.cycles));
    const bool fits = line.size() + sum.size() <= kPageWidth;
    return line + (fits ? "" : fmt::format("\n   {:<20}", "")) + sum;
}

/// What the letters are.
std::string symbols_lines(const Explained& e) {
    const ArraySpec& array = e.work.array;
    const Extent streamed = orientation(array.dataflow).streamed;
    const std::string per_cycle =
        streamed == Extent::K && e.work.rate.macs > 1 ? fmt::format(" / {}", e.work.rate.macs) : "";
    return fmt::format(
        "   R = {} rows, C = {} columns, T = vectors that a pass streams: its piece of {}{}.\n"
        "   {}{}\n\n",
        array.rows, array.cols, to_string(streamed), per_cycle,
        array.shadow_register
            ? "A shadow register in every PE: a pass may follow while the one before drains."
            : "No shadow register: a tile waits until the pass before has drained.",
        shifts(array) ? "" : "\n   Results leave over a bus of each column.");
}

/// What the scratchpad makes of the vectors' own pace.
std::string port_line(const Explained& e) {
    std::int64_t streamed = 0;
    for (const Stat& stat : e.result.stats)
        if (stat.name == "stream_cycles") streamed += stat.value;
    const std::int64_t least = e.work.stream_cycles();
    if (streamed <= least) return "";
    return wrapped(fmt::format(
        "The scratchpad takes {:.2f} cycles for a vector where the formulas take {}: of {} cycles "
        "of streaming {} are on_chip.",
        static_cast<double>(streamed) / static_cast<double>(e.work.vectors), e.work.rate.cycles,
        with_thousands(streamed), with_thousands(streamed - least)));
}

/// Why a class may take less time on the whole machine.
std::string hidden_ramp(const Explained& e) {
    const double alone = alone_by_class(e)[static_cast<std::size_t>(SlotClass::Ramp)];
    const double simulated = simulated_by_class(e.result.total)[static_cast<std::size_t>(SlotClass::Ramp)];
    return simulated + 0.05 < alone ? "   Less ramp: shifts and drains that pass while a unit waits for "
                                      "something else cost nothing.\n"
                                    : std::string();
}

}  // namespace

std::string bound_section(const Explained& e) {
    const ResultRow& total = e.result.total;
    std::string text =
        wrapped(fmt::format("{} cycles = {} in all; utilization {} %.", with_thousands(total.cycles.value()),
                            format_time(total.time()), format_percent(total.utilization())));
    if (total.roofline.floor() > Cycles())
        text += wrapped(fmt::format(
            "The roofline is {} cycles ({}); the run takes {:.2f} times that.",
            with_thousands(total.roofline.floor().value()), total.roofline.bound(),
            static_cast<double>(total.cycles.value()) / static_cast<double>(total.roofline.floor().value())));
    text += wrapped(fmt::format("{}: {} read, {} written; at least {} had to move.",
                                e.result.memory == "sram" ? "SRAM" : "DRAM", format_bytes(total.dram_read),
                                format_bytes(total.dram_written), format_bytes(total.compulsory_dram)));
    return text + wrapped(fmt::format("Bound by {}. {}", total.bound_by, critical_path_sentence(e.result)));
}

std::string cycles_section(const Explained& e) {
    const ArrayWork& work = e.work;
    const std::int64_t vectors = work.typical().vectors, each = work.rate.cycles;
    const std::size_t slowest = e.slowest_unit();
    const UnitTime& time = e.times[slowest];
    std::string text =
        "4. Cycles\n\n" + symbols_lines(e) +
        formula_line("one pass alone", alone(work.array, vectors, each)) +
        formula_line("each pass behind it", back_to_back(work.array, vectors, each)) +
        formula_line(
            fmt::format("all {} of {}", with_thousands(static_cast<std::int64_t>(work.units[slowest].size())),
                        e.unit_name(slowest)),
            time.formula);
    if (time.accumulator_waits > 0)
        text +=
            fmt::format("   {:<20} + {} cycles: a fold adds to sums that are {} cycles old at least\n", "",
                        with_thousands(time.accumulator_waits), work.array.accumulator_latency.value());
    return text + '\n' + class_table(e) + hidden_ramp(e) + port_line(e) + '\n' + bound_section(e);
}

}  // namespace systole::systolic
