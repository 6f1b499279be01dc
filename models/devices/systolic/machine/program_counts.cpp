// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/program_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/check.h"
#include "sim/base/checked.h"

namespace systole::systolic {
namespace {

Stat* find(std::vector<Stat>& stats, const std::string& path, const std::string& name) {
    const auto found =
        std::ranges::find_if(stats, [&](const Stat& stat) { return stat.name == name && stat.path == path; });
    return found == stats.end() ? nullptr : &*found;
}

}  // namespace

FoldCounts counts_of_fold(const SystolicSpec& spec, Dataflow dataflow, const MatrixPass& pass, bool first) {
    const bool inputs_stay = dataflow == Dataflow::InputStationary;
    const bool outputs_stay = dataflow == Dataflow::OutputStationary;
    FoldCounts counts;
    if (!inputs_stay || pass.new_tile) counts.ifmap_reads = pass.m * pass.k;
    if (inputs_stay || pass.new_tile) counts.filter_reads = pass.k / pass.sparsity * pass.n;
    const bool first_sum = !pass.accumulate && first;
    if (first_sum || (spec.faults.partial_sums_written && !outputs_stay))
        counts.ofmap_writes += pass.m * pass.n;
    if (spec.faults.os_extra_ofmap_writes && outputs_stay)
        counts.ofmap_writes += spec.mxu.rows + spec.mxu.cols;
    counts.macs = pass.m * pass.k * pass.n - pass.masked;
    return counts;
}

ProgramCounts::ProgramCounts(const Program& program, const SystolicSpec& spec, Protocol::Launch launch,
                             std::size_t layers)
    : spec_(spec) {
    const auto end = static_cast<std::int32_t>(layers);
    Units units(unit_numbers(spec.cores, spec.mxu.count));
    std::vector<Issue> issues(static_cast<std::size_t>(spec.cores));
    for (const Command& command : program.commands) {
        count(command, launch, end, issues[static_cast<std::size_t>(core_of(command.unit))]);
        Unit& unit = units[command.unit];
        const bool counts = command.layer < end;
        if (unit_kind(command.unit) == UnitKind::Matrix) {
            const Dataflow dataflow = program.dataflow_of(command);
            const Dataflow before = std::exchange(unit.passes.dataflow, dataflow).value_or(program.dataflow);
            unit.passes.switches += static_cast<std::int64_t>(counts && before != dataflow);
        }
        if (!counts) continue;
        switch (unit_kind(command.unit)) {
            case UnitKind::Vector:
                ++unit.commands;
                unit.passes.sum.macs += program.vector(command).macs;
                break;
            case UnitKind::Matrix:
                count(program.dataflow_of(command), program.pass(command), unit.passes);
                break;
            default:
                count(program.transfer(command), unit.transfers);
        }
    }
    for (int core = 0; core < spec.cores; ++core) list(core, units, issues[static_cast<std::size_t>(core)]);
    list_ends();
}

/// As a core's sequencer does: a launch where the first command of a layer beyond all before it is fetched.
void ProgramCounts::count(const Command& command, Protocol::Launch launch, std::int32_t layers, Issue& core) {
    if (command.layer < layers) ++core.issued;
    const bool pays =
        core.launched < 0 || (launch == Protocol::Launch::Stream && command.layer > core.launched);
    if (pays && launch != Protocol::Launch::None && command.layer < layers) ++core.launches;
    core.launched = std::max(core.launched, command.layer);
}

void ProgramCounts::count(const Transfer& transfer, Transfers& unit) {
    const Transfer cut = transfer.merged();
    ++unit.descriptors;
    unit.payloads += cut.rows * ceil_div(cut.row_bytes, spec_.dma.payload.value());
    unit.bytes += transfer.bytes();
    const auto meet = [&](End& end, Place place) {
        if (transfer.from.place == place) end.bytes_out += transfer.bytes();
        if (transfer.to.place == place) end.bytes_in += transfer.bytes();
    };
    meet(dram_, Place::Dram);
    meet(host_, Place::Host);
    meet(chips_, Place::ChipLink);
    if (cut.from.place == Place::Dram) dram_.bursts_out += bursts(cut, cut.from, true);
    if (cut.to.place == Place::Dram) dram_.bursts_in += bursts(cut, cut.to, false);
}

/// A payload takes every burst that it meets, whole or not.
std::int64_t ProgramCounts::bursts(const Transfer& transfer, const Region& region, bool source) const {
    const std::int64_t burst = spec_.memory.burst_bytes.value(), most = spec_.dma.payload.value();
    if (!spec_.memory.is_dram()) return 0;
    const bool aligned = most % burst == 0 && region.address % burst == 0 && region.stride % burst == 0;
    if (aligned) return transfer.rows * ceil_div(transfer.row_bytes, burst);
    std::int64_t sum = 0;
    for (std::int64_t row = 0; row < transfer.rows; ++row) {
        const std::int64_t begin = region.address + (source ? transfer.source_of(row) : row * region.stride);
        for (std::int64_t offset = 0; offset < transfer.row_bytes; offset += most) {
            const std::int64_t last = begin + std::min(offset + most, transfer.row_bytes) - 1;
            sum += last / burst - (begin + offset) / burst + 1;
        }
    }
    return sum;
}

void ProgramCounts::count(Dataflow dataflow, const MatrixPass& pass, Passes& unit) const {
    for (const bool first : {true, false}) {
        const std::int64_t folds = first ? 1 : pass.folds - 1;
        const FoldCounts fold = counts_of_fold(spec_, dataflow, pass, first);
        unit.passes += folds;
        unit.tiles += folds * static_cast<std::int64_t>(pass.new_tile);
        unit.sum.macs += folds * fold.macs;
        unit.sum.ifmap_reads += folds * fold.ifmap_reads;
        unit.sum.filter_reads += folds * fold.filter_reads;
        unit.sum.ofmap_writes += folds * fold.ofmap_writes;
    }
}

void ProgramCounts::list(int core, const Units& units, const Issue& issue) {
    const std::string sequencer = spec_.cores > 1 ? fmt::format("core{}.sequencer", core) : "sequencer";
    counts_.insert(counts_.end(),
                   {{sequencer, "issued", issue.issued}, {sequencer, "launches", issue.launches}});
    for (std::size_t kind = 0; kind < kSharedUnits; ++kind) {
        const UnitIndex index = unit_index(static_cast<UnitKind>(kind), 0, core);
        const std::string path = unit_name(index, spec_.cores);
        if (unit_kind(index) != UnitKind::Vector)
            list(path, units[index].transfers);
        else
            counts_.insert(counts_.end(), {{path, "commands", units[index].commands},
                                           {path, "macs", units[index].passes.sum.macs}});
    }
    for (int mxu = 0; mxu < spec_.mxu.count; ++mxu) {
        const UnitIndex matrix = unit_index(UnitKind::Matrix, mxu, core);
        const std::string path = unit_name(matrix, spec_.cores);
        const Passes& unit = units[matrix].passes;
        list(path + ".weights", units[unit_index(UnitKind::Weights, mxu, core)].transfers);
        counts_.insert(counts_.end(), {{path, "passes", unit.passes},
                                       {path, "tiles", unit.tiles},
                                       {path, "dataflow_switches", unit.switches},
                                       {path, "macs", unit.sum.macs},
                                       {path, "ifmap_reads", unit.sum.ifmap_reads},
                                       {path, "filter_reads", unit.sum.filter_reads},
                                       {path, "ofmap_writes", unit.sum.ofmap_writes}});
    }
}

/// Of the memory and the links, which all cores share.
void ProgramCounts::list_ends() {
    counts_.insert(counts_.end(), {{"host_link", "bytes_down", host_.bytes_out},
                                   {"host_link", "bytes_up", host_.bytes_in},
                                   {"chip_link", "bytes_in", chips_.bytes_out},
                                   {"chip_link", "bytes_out", chips_.bytes_in},
                                   {"dram", "bytes_read", dram_.bytes_out},
                                   {"dram", "bytes_written", dram_.bytes_in}});
    if (!spec_.memory.is_dram()) return;  // it has no bursts
    counts_.insert(counts_.end(),
                   {{"dram", "read_bursts", dram_.bursts_out}, {"dram", "write_bursts", dram_.bursts_in}});
}

void ProgramCounts::list(const std::string& path, const Transfers& unit) {
    counts_.insert(counts_.end(), {{path, "descriptors", unit.descriptors},
                                   {path, "payloads", unit.payloads},
                                   {path, "bytes", unit.bytes}});
}

std::vector<Stat> ProgramCounts::put_into(std::vector<Stat> stats, const std::string& machine) const {
    std::int64_t more_bursts = 0;
    for (const Count& count : counts_) {
        Stat* const stat = find(stats, machine + "." + count.path, count.name);
        if (!stat) continue;
        if (stat->unit == "bursts") more_bursts += count.value - stat->value;
        stat->value = count.value;
    }
    if (more_bursts == 0) return stats;
    find(stats, machine + ".dram", "row_hits")->value += more_bursts;
    find(stats, machine + ".dram", "bus_busy")->value += more_bursts * spec_.memory.timing.at("BL");
    return stats;
}

void ProgramCounts::hold(const std::vector<Stat>& stats, const std::string& machine) const {
    const std::vector<Stat> should = put_into(stats, machine);
    for (std::size_t i = 0; i < stats.size(); ++i)
        SYSTOLE_CHECK(stats[i].value == should[i].value, "{} counted {} {}, the program has {}",
                      stats[i].path, stats[i].value, stats[i].name, should[i].value);
}

}  // namespace systole::systolic
