// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "models/devices/systolic/explain/page.h"
#include "models/devices/systolic/explain/sections.h"
#include "sim/base/check.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"

namespace systole::systolic {
namespace {

struct Factor {
    std::string name;
    double value;
    std::string why;
};

/// Waits in the order in which they are taken away: what lies outside first.
struct Wait {
    SlotClass slot_class;
    const char* name;
};
constexpr Wait kWaits[] = {{SlotClass::Tail, "no work left"},
                           {SlotClass::Launch, "issue"},
                           {SlotClass::Host, "host link"},
                           {SlotClass::Memory, "memory"},
                           {SlotClass::Vector, "vector unit"},
                           {SlotClass::Dependency, "dependencies"},
                           {SlotClass::OnChip, "scratchpad, accumulators"}};

double slots_of(const ResultRow& row, SlotClass slot_class) {
    return static_cast<double>(row.slots[static_cast<std::size_t>(slot_class)]);
}

/// Each factor is what is left after its loss; their product telescopes to useful / capacity.
std::vector<Factor> factors_of(const Explained& e) {
    const ResultRow& total = e.result.total;
    const ArrayWork& work = e.work;
    std::vector<Factor> factors;
    double left = static_cast<double>(total.capacity());
    const auto lose = [&](const std::string& name, double slots, const std::string& why) {
        if (slots > 0) factors.push_back({name, (left - slots) / left, why});
        left -= slots;
    };
    for (const Wait& wait : kWaits)
        lose(wait.name, slots_of(total, wait.slot_class),
             fmt::format("{} % of the run is spent so", format_percent(total.fraction(wait.slot_class))));
    lose("shift, fill, drain", slots_of(total, SlotClass::Ramp), "no vector to multiply");

    const Orientation lies = orientation(work.array.dataflow);
    const auto ratio = [](std::int64_t part, std::int64_t all) {
        return static_cast<double>(part) / static_cast<double>(all);
    };
    const auto why = [&](Extent extent, int room) {
        return fmt::format(
            "{} = {} in {} piece{} of up to {}", to_string(extent), with_thousands(work.cut(extent).extent()),
            with_thousands(work.cut(extent).pieces()), work.cut(extent).pieces() == 1 ? "" : "s", room);
    };
    const int deep =
        lies.rows == Extent::K ? static_cast<int>(work.array.rows * work.rate.macs) : work.array.rows;
    factors.push_back({"edges, rows", ratio(work.row_slots, work.slots()), why(lies.rows, deep)});
    factors.push_back(
        {"edges, columns", ratio(work.column_slots, work.row_slots), why(lies.columns, work.array.cols)});
    if (work.useful_slots < work.column_slots)
        factors.push_back({"ends of K", ratio(work.useful_slots, work.column_slots),
                           fmt::format("{} MACs of a PE in each cycle", work.rate.macs)});
    return factors;
}

/// The heading; where utilization is defined otherwise, what the factors explain instead, and whose fault it
/// is.
std::string heading(const ResultRow& total, double useful) {
    if (!total.utilization_slots)
        return fmt::format("5. Why the utilization is {} %\n\n", format_percent(useful));
    return fmt::format("5. Why the useful share of all slots is {} %\n\n", format_percent(useful)) +
           wrapped(fmt::format("Utilization, {} %, is over the slots of the compute cycles less one "
                               "(faults.utilization_less_one_cycle).",
                               format_percent(total.utilization()))) +
           '\n';
}

}  // namespace

std::string utilization_section(const Explained& e) {
    const double useful = e.result.total.fraction(SlotClass::Useful);
    TextTable table;
    table.column("factor", TextTable::Align::Left);
    table.column("%", TextTable::Align::Right);
    table.column("product %", TextTable::Align::Right);
    table.column("why", TextTable::Align::Left);
    double product = 1;
    for (const Factor& factor : factors_of(e)) {
        product *= factor.value;
        table.row({factor.name, format_percent(factor.value), format_percent(product), factor.why});
    }
    // Slots are cut at clock edges of whole picoseconds; the factors of the edges are counted in whole
    // vectors.
    SYSTOLE_CHECK(std::fabs(product - useful) <= 0.01 * useful + 1e-9,
                  "the factors give a useful share of {}, the run {}", product, useful);
    return heading(e.result.total, useful) + indented(table);
}

}  // namespace systole::systolic
