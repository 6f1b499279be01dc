// SPDX-License-Identifier: Apache-2.0
// Why the operator was mapped so: what else the mapper has weighed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "models/devices/systolic/explain/page.h"
#include "models/devices/systolic/explain/sections.h"
#include "sim/base/check.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"

namespace systole::systolic {
namespace {

constexpr std::size_t kMostRows = 6;

std::string cycles(double estimate) {
    return with_thousands(std::llround(estimate));
}

std::vector<std::string> row_of(const WeighedMapping& mapping) {
    const TilingTime& t = mapping.time;
    return {fmt::format("{} x {} x {}", mapping.over_batch, mapping.over_m, mapping.over_n),
            fmt::format("{} x {}", with_thousands(mapping.rows), with_thousands(mapping.columns)),
            with_thousands(mapping.depth),
            mapping.m_outer ? "m" : "n",
            cycles(t.first),
            cycles(t.arrays),
            cycles(t.memory),
            cycles(t.results),
            cycles(t.cycles),
            std::string(t.bound)};
}

/// What the cores of a chip could deal.
std::string cores_line(const MappingChoice& choice) {
    if (choice.cores.empty()) return "";
    std::vector<std::string> ways;
    for (const auto& [way, estimate] : choice.cores)
        ways.push_back(fmt::format("{} {}", way == "none" ? "nothing (one works)" : way, cycles(estimate)));
    return fmt::format(" The best estimates of what cores can deal: {} cycles.", fmt::join(ways, ", "));
}

/// What the estimate has come to, or runs of several mappings.
std::string outcome_line(const MappingChoice& choice, const DeviceResult& result) {
    const std::string estimated = cycles(choice.best[0].time.cycles);
    const auto trials = std::ranges::find(result.choices, "placement.trials", &ChosenSetting::key);
    if (trials == result.choices.end() || trials->why.starts_with("1 run "))
        return fmt::format("Estimated {} cycles, simulated {}.", estimated,
                           with_thousands(result.total.cycles.value()));
    return fmt::format("Estimated {} cycles. Runs have decided (placement.trials={}; {}): {}.", estimated,
                       trials->value, trials->why, result.layers[0].mapping);
}

}  // namespace

std::string choice_section(const Explained& e) {
    std::string text = "6. Why this mapping\n\n";
    SYSTOLE_CHECK(e.choice && !e.choice->best.empty(), "the mapper has not told what it weighed");
    const MappingChoice& choice = *e.choice;
    TextTable table;
    for (const char* left : {"MXUs", "block"}) table.column(left, TextTable::Align::Left);
    table.column("K a step", TextTable::Align::Right);
    table.column("outer", TextTable::Align::Left);
    for (const char* right : {"first", "arrays", "memory", "results", "estimate"})
        table.column(right, TextTable::Align::Right);
    table.column("held by", TextTable::Align::Left);
    const std::size_t shown = std::min(kMostRows, choice.best.size());
    for (std::size_t i = 0; i < shown; ++i) table.row(row_of(choice.best[i]));
    const std::size_t others = choice.best.size() - 1;
    std::string told = fmt::format("Of {} mapping{} that fit{} the buffers, the one of least estimated time",
                                   with_thousands(static_cast<std::int64_t>(choice.candidates)),
                                   choice.candidates == 1 ? "" : "s", choice.candidates == 1 ? "s" : "");
    if (others > 0)
        told += "; below it the best of each other way to deal the matrix units and to nest the loops";
    if (shown <= others) told += fmt::format(", {} of {}", shown - 1, others);
    text += wrapped(told + "." + cores_line(choice));
    text += '\n' + indented(table) + '\n';
    return text +
           wrapped(
               "MXUs: over batch x M x N. In cycles: first = until the first step is read; arrays, memory "
               "(all that passes its bus) and results (drained or stored) = each by itself. They overlap, "
               "but "
               "for what comes before and behind, and 0.3 of what the longest hides. Estimates within 0.5 % "
               "count as equal: then longer steps win.") +
           wrapped(outcome_line(choice, e.result));
}

}  // namespace systole::systolic
