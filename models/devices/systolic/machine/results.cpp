// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "models/devices/systolic/machine/program_counts.h"
#include "models/devices/systolic/spec/systolic_energy.h"
#include "sim/account/invariants.h"
#include "sim/account/roofline.h"
#include "sim/base/check.h"

namespace systole::systolic {
namespace {

/// Number formats of a layer's operands.
using Formats = std::pair<DType, std::optional<DType>>;

Formats formats_of(const LayerInfo& layer) {
    return {layer.dtype, layer.second_dtype};
}

MacRate peak_of(const SystolicSpec& spec, const Formats& formats) {
    return spec.pes() * spec.mxu.rate_of(formats.first, formats.second).value_or(MacRate{1});
}

std::vector<Movement> movements_of(const ByteLedger& ledger, std::size_t layer) {
    std::vector<Movement> movements;
    for (std::size_t from = 0; from < kPlaces; ++from)
        for (std::size_t to = 0; to < kPlaces; ++to)
            for (std::size_t operand = 0; operand < kOperands; ++operand) {
                const Movement movement{static_cast<Place>(from), static_cast<Place>(to),
                                        static_cast<Operand>(operand),
                                        ledger.moved(layer, static_cast<Place>(from), static_cast<Place>(to),
                                                     static_cast<Operand>(operand))};
                if (movement.bytes > Bytes(0)) movements.push_back(movement);
            }
    return movements;
}

/// The critical path of [from, `last`). A matrix unit that streams is compute there, not a wait.
std::vector<CausalLog::Piece> owned_path(const RunRecord& record, CausalLog::EventId last, Ticks from) {
    if (last == CausalLog::kNone) return {};
    auto pieces = record.log().explain(last, from);
    for (auto& piece : pieces) {
        const Command& command = record.program().commands[record.log()[piece.event].command];
        if (piece.owner == SlotClass::Dependency && unit_kind(command.unit) == UnitKind::Matrix)
            piece.owner = SlotClass::Useful;
    }
    return pieces;
}

/// What the banks give, where clients meet in them. Edges that read into buffers (all but those of ws) take a
/// line once for windows that overlap in it: arrays get more bytes than banks give; only lines have a peak.
std::optional<OnChipPeak> on_chip_peak(const SystolicSpec& spec, const Program& program) {
    const ScratchpadSpec& scratchpad = spec.scratchpad;
    const bool buffered = program.dataflow != Dataflow::WeightStationary || program.mixes_dataflows();
    if (scratchpad.bank_access == BankAccess::Private || buffered) return {};
    return OnChipPeak{spec.cores * scratchpad.banks * scratchpad.bank_bytes.value() * scratchpad.bank_ports,
                      scratchpad.bank_access == BankAccess::Shared};
}

/// What units compute for a layer.
struct UnitWork {
    std::int64_t matrix_macs = 0, lane_cycles = 0;
};

/// By layer.
std::vector<UnitWork> unit_work(const Program& program) {
    std::vector<UnitWork> work(program.layers.size());
    for (const Command& command : program.commands) {
        UnitWork& layer = work[static_cast<std::size_t>(command.layer)];
        if (unit_kind(command.unit) == UnitKind::Matrix)
            layer.matrix_macs += program.pass(command).macs().value();
        if (unit_kind(command.unit) == UnitKind::Vector)
            layer.lane_cycles += program.vector_work[command.work].lane_cycles;
    }
    return work;
}

class Rows {
public:
    Rows(Machine& machine, const SystolicSpec& spec)
        : machine_(machine),
          spec_(spec),
          program_(machine.record.program()),
          ledger_(machine.record.ledger()) {}

    Peaks peaks(const Formats& formats) const {
        return {peak_of(spec_, formats),
                spec_.cores * spec_.vector.lanes,
                on_chip_peak(spec_, program_),
                spec_.memory.peak(),
                spec_.host.peak(),
                spec_.core_clock,
                spec_.chip_link ? spec_.chip_link->peak() : BytesPerSecond()};
    }

    std::vector<ResultRow> layers() const {
        const std::vector<RunRecord::Window> windows = machine_.record.layer_windows();
        std::vector<Ticks> ends;
        for (const RunRecord::Window& window : windows) ends.push_back(machine_.record.time_of(window.last));
        std::vector<const SlotAccount*> accounts;
        for (const MatrixUnit* mxu : machine_.mxus()) accounts.push_back(&mxu->account());
        const std::vector<ClassSlots> slots = cut(accounts, ends);
        const std::vector<UnitWork> work = unit_work(program_);
        std::vector<ResultRow> rows(windows.size());
        for (std::size_t n = 0; n < windows.size(); ++n) {
            const auto [i, last] = windows[n];
            const LayerInfo& info = program_.layers[i];
            ResultRow& row = rows[i];
            row.name = info.name;
            row.op = info.op;
            row.mapping = info.mapping;
            row.slices = info.slices;
            row.begin = n == 0 ? Ticks(0) : ends[n - 1];
            row.end = ends[n];
            row.macs = Macs(info.macs);
            row.matrix_macs = Macs(work[i].matrix_macs);
            row.lane_cycles = work[i].lane_cycles;
            if (row.matrix_macs > Macs(0))
                row.operations.push_back({mac_name(info.dtype, info.second_dtype), row.matrix_macs.value()});
            if (row.lane_cycles > 0) row.operations.push_back({kLaneOperation, row.lane_cycles});
            row.slots = slots[n];
            row.compulsory_dram = Bytes(info.compulsory_dram);
            row.movements = movements_of(ledger_, i);
            fill(row, i, 1, formats_of(info));
            row.bound_by = bound_by(path(last, row.begin), row.roofline);
        }
        return rows;
    }

    ResultRow total(const std::vector<ResultRow>& layers, const Formats& fastest) const {
        ResultRow row;
        for (const ResultRow& layer : layers) row.end = std::max(row.end, layer.end);
        row.compulsory_dram = Bytes(program_.compulsory_dram);
        ByteLedger sum(1);
        for (const ResultRow& layer : layers) {
            row.macs += layer.macs;
            row.matrix_macs += layer.matrix_macs;
            row.lane_cycles += layer.lane_cycles;
            for (std::size_t c = 0; c < kSlotClasses; ++c) row.slots[c] += layer.slots[c];
            for (const Movement& m : layer.movements) sum.enter(0, m.from, m.to, m.operand, m.bytes);
        }
        row.movements = movements_of(sum, 0);
        fill(row, 0, layers.size(), fastest);
        return row;
    }

    /// The critical path of [from, `last`) by class.
    const std::vector<CriticalStep>& path(CausalLog::EventId last, Ticks from) const {
        const auto [known, added] = paths_.try_emplace({last, from});
        if (added) known->second = critical_path(owned_path(machine_.record, last, from));
        return known->second;
    }

private:
    /// The peer's utilization is over one cycle less than it computed in.
    void count_as_peer(ResultRow& row, const Formats& formats) const {
        if (!spec_.faults.utilization_less_one_cycle) return;
        const auto compute = row.slots[static_cast<std::size_t>(SlotClass::Useful)] +
                             row.slots[static_cast<std::size_t>(SlotClass::Padding)] +
                             row.slots[static_cast<std::size_t>(SlotClass::Ramp)];
        const std::int64_t cycle =
            peak_of(spec_, formats).macs * machine_.clock.after(Ticks(0), Cycles(1)).value();
        row.utilization_slots = std::max<std::int64_t>(0, compute - cycle);
    }

    void fill(ResultRow& row, std::size_t first, std::size_t count, const Formats& formats) const {
        const ClockDomain& clock = machine_.clock;
        count_as_peer(row, formats);
        row.cycles = clock.at_or_after(row.end) - clock.at_or_after(row.begin);
        for (std::size_t layer = first; layer < first + count; ++layer) {
            row.dram_read += ledger_.out_of(layer, Place::Dram);
            row.dram_written += ledger_.into(layer, Place::Dram);
        }
        row.roofline = roofline(work_of(row), peaks(formats));
    }

    Machine& machine_;
    const SystolicSpec& spec_;
    const Program& program_;
    const ByteLedger& ledger_;
    mutable std::map<std::pair<CausalLog::EventId, Ticks>, std::vector<CriticalStep>> paths_;
};

/// The roofline of every layer, on the work done inside its interval: what certainly crossed the DRAM's bus
/// then, and the useful slots, both fit into it.
void check_layers(const Machine& machine, const std::vector<ResultRow>& layers, BytesPerSecond dram_peak) {
    for (const ResultRow& row : layers) {
        const Bytes crossed = machine.record.dram_bytes_within(row.begin, row.end);
        // One tick of slack: edges of the memory's clock are rounded down to picoseconds.
        const Int128 room = Int128{dram_peak.value()} * (row.time().value() + 1);
        SYSTOLE_CHECK(Int128{crossed.value()} * kTicksPerSecond <= room,
                      "layer '{}' moved {} B over the DRAM's bus in {} ps", row.name, crossed.value(),
                      row.time().value());
        const auto useful = row.slots[static_cast<std::size_t>(SlotClass::Useful)];
        SYSTOLE_CHECK(useful <= row.capacity(), "layer '{}' has {} useful slots of {}", row.name, useful,
                      row.capacity());
    }
}

/// The counts of the first `layers` layers: where commands alone say them, theirs.
std::vector<std::int64_t> counts_at(const Machine& machine, const ProgramCounts& counts,
                                    std::vector<Stat> stats, const std::vector<std::int64_t>& by_then) {
    for (std::size_t i = 0; i < stats.size(); ++i) stats[i].value = by_then[i];
    std::vector<std::int64_t> values;
    for (const Stat& stat : counts.put_into(std::move(stats), machine.name())) values.push_back(stat.value);
    return values;
}

/// What is known only at the end: the number of layers of each mark, and the path up to it.
std::vector<Mark> finish_marks(Machine& machine, const SystolicSpec& spec, const Protocol& protocol,
                               const std::vector<std::size_t>& layers, const std::vector<Stat>& stats) {
    std::vector<Mark> marks = machine.marks();
    SYSTOLE_CHECK(marks.size() == layers.size(), "{} of {} marks were met", marks.size(), layers.size());
    if (marks.empty()) return marks;
    const auto pieces = owned_path(machine.record, machine.record.last(), Ticks(0));
    const auto ends = machine.record.layer_ends();
    for (std::size_t i = 0; i < marks.size(); ++i) {
        Mark& mark = marks[i];
        mark.layers = layers[i];
        SYSTOLE_CHECK(mark.time == machine.record.log()[ends[layers[i] - 1]].time, "mark {} was met at {} ps",
                      i, mark.time.value());
        const ProgramCounts counts(machine.record.program(), spec, protocol.launch, layers[i]);
        mark.counts = counts_at(machine, counts, stats, mark.counts);
        std::vector<CausalLog::Piece> before;
        for (CausalLog::Piece piece : pieces) {
            piece.end = std::min(piece.end, mark.time);
            if (piece.begin < piece.end) before.push_back(piece);
        }
        mark.critical_path = critical_path(before);
    }
    return marks;
}

}  // namespace

MacRate peak_of(const SystolicSpec& spec, const LayerInfo& layer) {
    return peak_of(spec, formats_of(layer));
}

Refreshes refreshes_of(const DramSpec& memory) {
    const auto every = memory.refresh_interval();
    if (!every) return {};
    return {memory.longest_refresh(), *every, *every - memory.refresh_phase};
}

MarkedRun marked_run(Machine& machine, const SystolicSpec& spec, const Protocol& protocol,
                     const std::vector<std::size_t>& marks) {
    const Program& program = machine.record.program();
    const auto fastest = std::max_element(
        program.layers.begin(), program.layers.end(), [&](const LayerInfo& a, const LayerInfo& b) {
            return peak_of(spec, formats_of(a)) < peak_of(spec, formats_of(b));
        });
    const Formats formats = fastest == program.layers.end() ? Formats{DType::Int8, {}} : formats_of(*fastest);
    const Rows rows(machine, spec);

    MarkedRun run;
    DeviceResult& result = run.checked.result;
    result.device = spec.name;
    result.trace = program.trace;
    result.protocol = describe(protocol);
    result.clock = spec.core_clock;
    result.memory = DramSpec::name_of(spec.memory.kind);
    result.peaks = rows.peaks(formats);
    for (std::size_t i = 0; i < spec.mxu.rate.size(); ++i)
        if (spec.mxu.rate[i])
            result.dtypes.push_back({dtype_names()[i], peak_of(spec, {static_cast<DType>(i), {}})});
    for (const auto& [both, rate] : spec.mxu.mixed_rate)
        if (rate.macs > 0)
            result.dtypes.push_back(
                {fmt::format("{}x{}", to_string(both.first), to_string(both.second)), spec.pes() * rate});
    result.layers = rows.layers();
    result.total = rows.total(result.layers, formats);
    result.critical_path = rows.path(machine.record.last(), Ticks(0));
    result.total.bound_by = bound_by(result.critical_path, result.total.roofline);
    result.stats = machine.stats();
    machine.memory.account_energy(result.energy);
    result.memory_bus = machine.memory_bus();

    Expectations& expected = run.checked.expected;
    for (const MatrixUnit* mxu : machine.mxus()) expected.capacity += mxu->account().capacity();
    expected.macs =
        Macs(std::accumulate(program.layers.begin(), program.layers.end(), std::int64_t{0},
                             [](std::int64_t sum, const LayerInfo& layer) { return sum + layer.macs; }));
    const std::int64_t done = result.total.matrix_macs.value() + machine.vector_macs();
    SYSTOLE_CHECK(done == expected.macs.value(), "units did {} MACs of the operators' {}", done,
                  expected.macs.value());
    expected.ends = machine.ends();
    expected.peaks = result.peaks;
    for (const auto& core : machine.cores)
        if (const auto banks = core->scratchpad.lines_per_cycle()) expected.banks.push_back(*banks);
    check_invariants(result, expected);
    check_layers(machine, result.layers, expected.peaks.dram);
    ProgramCounts(program, spec, protocol.launch, program.layers.size()).hold(result.stats, machine.name());
    run.marks = finish_marks(machine, spec, protocol, marks, result.stats);
    run.jitter = spec.memory.longest_refresh();
    run.refreshes = refreshes_of(spec.memory);
    run.longest = spec.longest_run();
    return run;
}

}  // namespace systole::systolic
