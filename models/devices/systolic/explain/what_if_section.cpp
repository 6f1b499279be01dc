// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "models/devices/systolic/explain/sections.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

constexpr std::size_t kHints = 3;
constexpr double kNoticeable = 0.01;  // of the run: smaller gains are not told
constexpr double kWorthwhile = 0.03;  // of the run: smaller losses are not followed up

/// A machine without one cause of waits.
struct Remedy {
    SlotClass loss;
    const char* what;
    void (*apply)(SystolicSpec&, Protocol&);
};

void ideal_memory(SystolicSpec& spec, Protocol&) {
    spec.memory.flat_capacity = spec.memory.capacity();
    spec.memory.kind = DramSpec::Kind::Ideal;
}

void data_in_dram(SystolicSpec&, Protocol& protocol) {
    protocol.inputs_at = protocol.outputs_to = Protocol::Where::Dram;
}

void wide_scratchpad(SystolicSpec& spec, Protocol&) {
    spec.scratchpad.banks *= 4;
    spec.scratchpad.activation_ports = std::max(spec.scratchpad.activation_ports, spec.mxu.count);
    spec.scratchpad.weight_port_bytes = spec.scratchpad.weight_port_bytes * 4;
    spec.scratchpad.dma_port_bytes = spec.scratchpad.dma_port_bytes * 4;
    spec.scratchpad.latency = Cycles(0);
}

void prompt_sequencer(SystolicSpec& spec, Protocol& protocol) {
    spec.sequencer.issue_cycles = Cycles(0);
    protocol.launch = Protocol::Launch::None;
}

void wide_vector_unit(SystolicSpec& spec, Protocol&) {
    spec.vector.lanes *= 4;
    spec.vector.read_bytes_per_cycle = spec.vector.read_bytes_per_cycle * 4;
    spec.vector.write_bytes_per_cycle = spec.vector.write_bytes_per_cycle * 4;
    spec.vector.accumulator_rows_per_cycle *= 4;
}

void shadow_register(SystolicSpec& spec, Protocol&) {
    spec.mxu.shadow_register = true;
}

constexpr std::array kRemedies{
    Remedy{SlotClass::Memory, "a memory that answers at once", ideal_memory},
    Remedy{SlotClass::Host, "inputs and outputs in device memory", data_in_dram},
    Remedy{SlotClass::OnChip, "four times the scratchpad's banks and port widths, no latency",
           wide_scratchpad},
    Remedy{SlotClass::Launch, "a sequencer that issues in no time, without a launch", prompt_sequencer},
    Remedy{SlotClass::Vector, "a vector unit four times as wide", wide_vector_unit},
    Remedy{SlotClass::Ramp, "a shadow register in every PE", shadow_register}};

/// "simulated: …: 1,234 cycles instead of 2,345, utilization 40.1 % instead of 21.0 %".
std::optional<std::string> simulated(const Explained& e, const Remedy& remedy, const Simulate& simulate) {
    SystolicSpec spec = e.spec;
    Protocol protocol = e.protocol;
    spec.mxu.engine = EngineKind::Tile;
    remedy.apply(spec, protocol);
    try {
        const ResultRow changed = simulate(spec, protocol).total;
        const std::int64_t before = e.result.total.cycles.value(), saved = before - changed.cycles.value();
        if (static_cast<double>(saved) < kNoticeable * static_cast<double>(before)) return std::nullopt;
        return fmt::format(
            "simulated   {}:\n               {} cycles instead of {}, utilization {} % instead "
            "of {} %",
            remedy.what, with_thousands(changed.cycles.value()),
            with_thousands(e.result.total.cycles.value()), format_percent(changed.utilization()),
            format_percent(e.result.total.utilization()));
    } catch (const UserError&) {
        return std::nullopt;  // the operator does not fit the changed machine
    }
}

/// Utilization of the arrays alone, in per cent, when they do `useful` PE-slots in `cycles`.
std::string alone_percent(const ArrayWork& work, std::int64_t useful, std::int64_t cycles) {
    const double all = work.peak() * static_cast<double>(work.units.size()) * static_cast<double>(cycles);
    return format_percent(static_cast<double>(useful) / all);
}

/// Sizes that fill every tile: the same passes, hence the same cycles.
std::optional<std::string> fuller_tiles(const Explained& e) {
    const ArrayWork& work = e.work;
    const std::int64_t cycles = e.times[e.slowest_unit()].cycles();
    return fmt::format(
        "by formula  {} and {} grown until every tile is full take the same passes:\n               {} % of "
        "the "
        "arrays alone instead of {} %",
        to_string(orientation(work.array.dataflow).rows), to_string(orientation(work.array.dataflow).columns),
        alone_percent(work, work.slots(), cycles), alone_percent(work, work.useful_slots, cycles));
}

/// Longer streams on the same tiles; nothing if the accumulators cannot take their results.
std::optional<std::string> longer_streams(const Explained& e) {
    const ArrayWork& work = e.work;
    const std::int64_t vectors = work.typical().vectors;
    std::int64_t factor = 2;
    while (factor * vectors < work.array.rows) factor *= 2;
    const bool rows = work.array.dataflow != Dataflow::OutputStationary;
    if (rows && factor * vectors > e.spec.mxu.accumulator_room()) return std::nullopt;
    std::int64_t cycles = 0;
    ArraySpec roomy = work.array;
    roomy.accumulator_rows *= factor;
    for (std::vector<ArrayPass> unit : work.units) {
        for (ArrayPass& pass : unit) {
            pass.vectors *= factor;
            if (rows) pass.accumulator_row *= factor;
        }
        cycles = std::max(cycles, unit_time(roomy, unit).cycles());
    }
    return fmt::format(
        "by formula  {0} x {1} on the same tiles (T = {2} instead of {3}):\n               {4} cycles for "
        "{0} x "
        "the work, {5} % of the arrays alone instead of {6} %",
        factor, to_string(orientation(work.array.dataflow).streamed), with_thousands(factor * vectors),
        with_thousands(vectors), with_thousands(cycles),
        alone_percent(work, factor * work.useful_slots, cycles),
        alone_percent(work, work.useful_slots, e.times[e.slowest_unit()].cycles()));
}

std::optional<std::string> hint(const Explained& e, SlotClass loss, const Simulate& simulate) {
    if (loss == SlotClass::Padding) return fuller_tiles(e);
    if (loss == SlotClass::Ramp && e.spec.mxu.shadow_register) return longer_streams(e);
    const auto remedy = std::ranges::find(kRemedies, loss, &Remedy::loss);
    return remedy == kRemedies.end() ? std::nullopt : simulated(e, *remedy, simulate);
}

}  // namespace

std::string what_if_section(const Explained& e, const Simulate& simulate) {
    std::vector<SlotClass> losses;
    for (std::size_t i = 1; i < kSlotClasses; ++i)
        if (e.result.total.fraction(static_cast<SlotClass>(i)) >= kWorthwhile)
            losses.push_back(static_cast<SlotClass>(i));
    std::ranges::stable_sort(losses, std::greater{}, [&](SlotClass c) { return e.result.total.fraction(c); });
    std::string text;
    std::size_t given = 0;
    for (const SlotClass loss : losses) {
        if (given == kHints) break;
        const auto found = hint(e, loss, simulate);
        if (!found) continue;
        text += fmt::format("   {}\n", *found);
        ++given;
    }
    if (losses.empty()) text = "   Little: no loss takes more than 3 %.\n";
    if (!losses.empty() && given == 0)
        text = fmt::format("   Nothing that this page computes; the largest loss is {}.\n",
                           to_string(losses.front()));
    return "7. What would change it\n\n" + text;
}

}  // namespace systole::systolic
