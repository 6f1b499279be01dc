// SPDX-License-Identifier: Apache-2.0
#include "sim/account/invariants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/check.h"

namespace systole {
namespace {

/// Collects sentences about pairs of numbers that had to be equal.
class Findings {
public:
    void equal(std::string_view what, std::int64_t actual, std::int64_t expected) {
        if (actual != expected) add(fmt::format("{}: {}, expected {}", what, actual, expected));
    }
    void add(std::string sentence) { sentences_.push_back(std::move(sentence)); }
    std::vector<std::string> take() { return std::move(sentences_); }

private:
    std::vector<std::string> sentences_;
};

template <class Value>
std::int64_t sum(const std::vector<ResultRow>& rows, Value value_of) {
    std::int64_t total = 0;
    for (const ResultRow& row : rows) total += value_of(row);
    return total;
}

void check_slots(const DeviceResult& result, const Expectations& expected, Findings& findings) {
    findings.equal("class slots of the total", result.total.capacity(), expected.capacity);
    for (std::size_t i = 0; i < kSlotClasses; ++i) {
        const auto slots = [i](const ResultRow& row) { return row.slots[i]; };
        const std::string_view name = to_string(static_cast<SlotClass>(i));
        findings.equal(fmt::format("{} slots of all layers", name), sum(result.layers, slots),
                       result.total.slots[i]);
        for (const ResultRow& row : result.layers)
            if (row.slots[i] < 0) findings.add(fmt::format("{}: {} {} slots", row.name, row.slots[i], name));
    }
}

void check_sums(const DeviceResult& result, const Expectations& expected, Findings& findings) {
    const auto layers_sum = [&](std::string_view what, auto value_of) {
        findings.equal(fmt::format("{} of all layers", what), sum(result.layers, value_of),
                       value_of(result.total));
    };
    layers_sum("cycles", [](const ResultRow& row) { return row.cycles.value(); });
    layers_sum("picoseconds", [](const ResultRow& row) { return row.time().value(); });
    layers_sum("MACs", [](const ResultRow& row) { return row.macs.value(); });
    layers_sum("matrix MACs", [](const ResultRow& row) { return row.matrix_macs.value(); });
    layers_sum("lane-cycles", [](const ResultRow& row) { return row.lane_cycles; });
    layers_sum("bytes read from DRAM", [](const ResultRow& row) { return row.dram_read.value(); });
    layers_sum("bytes written to DRAM", [](const ResultRow& row) { return row.dram_written.value(); });
    findings.equal("MACs of the total", result.total.macs.value(), expected.macs.value());
}

/// All cells of some rows' movements added up, as a ledger of one layer.
ByteLedger gather(const std::vector<const ResultRow*>& rows) {
    ByteLedger ledger(1);
    for (const ResultRow* row : rows)
        for (const Movement& cell : row->movements)
            ledger.enter(0, cell.from, cell.to, cell.operand, cell.bytes);
    return ledger;
}

void check_bytes(const DeviceResult& result, const Expectations& expected, Findings& findings) {
    std::vector<const ResultRow*> rows;
    for (const ResultRow& row : result.layers) rows.push_back(&row);
    const ByteLedger layers = gather(rows), total = gather({&result.total});

    std::vector<Movement> cells = total.movements();
    for (const Movement& cell : layers.movements())
        if (total.moved(0, cell.from, cell.to, cell.operand) == Bytes()) cells.push_back(cell);
    for (const Movement& cell : cells)
        findings.equal(fmt::format("{} bytes {} -> {} of all layers", to_string(cell.operand),
                                   to_string(cell.from), to_string(cell.to)),
                       layers.moved(0, cell.from, cell.to, cell.operand).value(),
                       total.moved(0, cell.from, cell.to, cell.operand).value());

    for (const EndCount& end : expected.ends) {
        const std::string_view place = to_string(end.place);
        findings.equal(fmt::format("bytes moved out of {}", place), total.out_of(end.place).value(),
                       end.out.value());
        findings.equal(fmt::format("bytes moved into {}", place), total.into(end.place).value(),
                       end.in.value());
    }
}

/// Energies are entered from what components counted, and counters are reported beside them.
void check_entries(const DeviceResult& result, Findings& findings) {
    Femtojoules sum;
    for (const EnergyEntry& entry : result.energy.entries()) {
        sum += entry.energy();
        const std::string what = fmt::format("{} {} that took energy", entry.path, entry.event);
        if (entry.count < 0) findings.add(fmt::format("{}: {}", what, entry.count));
        if (entry.counter.empty()) continue;
        const auto stat = std::find_if(result.stats.begin(), result.stats.end(), [&](const Stat& other) {
            return other.path == entry.path && other.name == entry.counter;
        });
        if (stat == result.stats.end())
            findings.add(fmt::format("{}: there is no counter {}", what, entry.counter));
        else
            findings.equal(what, entry.count, stat->value);
    }
    findings.equal("femtojoules of all entries", sum.value(), result.energy.total().value());
}

/// A transfer's last edge lies on a whole picosecond at or below its exact time, so a path may seem faster
/// than its peak by less than one tick.
bool above_peak(Bytes bytes, Ticks time, BytesPerSecond peak) {
    const auto needed = static_cast<Int128>(bytes.value()) * kTicksPerSecond;
    return needed >= static_cast<Int128>(time.value() + 1) * peak.value() && bytes > Bytes();
}

void check_banks(const DeviceResult& result, const Expectations& expected, Findings& findings) {
    for (const BankLines& banks : expected.banks) {
        std::int64_t lines = 0;
        for (const Stat& stat : result.stats)
            if (stat.path == banks.path && stat.name.ends_with("_accesses")) lines += stat.value;
        if (lines > Int128{result.total.cycles.value()} * banks.per_cycle)
            findings.add(fmt::format("{}: {} lines in {} cycles are above the {} that its banks serve in one",
                                     banks.path, lines, result.total.cycles.value(), banks.per_cycle));
    }
}

void check_peaks(const DeviceResult& result, const Expectations& expected, Findings& findings) {
    const ResultRow& total = result.total;
    const ByteLedger ledger = gather({&total});
    const Peaks& peaks = expected.peaks;
    const auto hold = [&](std::string_view path, Bytes bytes, BytesPerSecond peak) {
        if (above_peak(bytes, total.time(), peak))
            findings.add(fmt::format("{}: {} bytes in {} ps are above its peak of {} bytes per second", path,
                                     bytes.value(), total.time().value(), peak.value()));
    };
    hold("DRAM", total.dram_read + total.dram_written, peaks.dram);
    if (peaks.on_chip) {
        const Work work = work_of(total);
        const Int128 room = Int128{total.cycles.value()} * peaks.on_chip->bytes_per_cycle;
        const auto fit = [&](std::string_view what, Bytes bytes) {
            if (bytes.value() > room)
                findings.add(
                    fmt::format("scratchpad: {} bytes {} in {} cycles are above the peak of its banks",
                                bytes.value(), what, total.cycles.value()));
        };
        if (peaks.on_chip->both_ways) fit("moved", work.on_chip_read + work.on_chip_written);
        fit("read", work.on_chip_read);
        fit("written", work.on_chip_written);
    }
    hold("host link, inwards", ledger.out_of(Place::Host), peaks.host);
    hold("host link, outwards", ledger.into(Place::Host), peaks.host);
    hold("chip link, inwards", ledger.out_of(Place::ChipLink), peaks.chips);
    hold("chip link, outwards", ledger.into(Place::ChipLink), peaks.chips);

    const std::int64_t cycles = total.cycles.value();
    if (static_cast<Int128>(total.matrix_macs.value()) * peaks.macs.cycles >
        static_cast<Int128>(cycles) * peaks.macs.macs)
        findings.add(fmt::format("{} MACs on matrix units in {} cycles are above their peak of {} per cycle",
                                 total.matrix_macs.value(), cycles, peaks.macs.per_cycle()));
    // One cycle of grace for the same fraction of a tick, which rounding up to cycles can turn into a whole
    // one.
    if (cycles + 1 < total.roofline.floor().value())
        findings.add(
            fmt::format("{} cycles, fewer than the roofline's {}", cycles, total.roofline.floor().value()));
}

}  // namespace

std::vector<std::string> violations(const DeviceResult& result, const Expectations& expected) {
    Findings findings;
    check_slots(result, expected, findings);
    check_sums(result, expected, findings);
    check_bytes(result, expected, findings);
    Ticks path;
    for (const CriticalStep& step : result.critical_path) path += step.time;
    findings.equal("picoseconds of the critical path", path.value(), result.total.time().value());
    check_entries(result, findings);
    check_peaks(result, expected, findings);
    check_banks(result, expected, findings);
    return findings.take();
}

bool above_peaks(const DeviceResult& result, const Expectations& expected) {
    Findings findings;
    check_peaks(result, expected, findings);
    check_banks(result, expected, findings);
    return !findings.take().empty();
}

std::vector<std::string> energy_violations(const DeviceResult& result) {
    Findings findings;
    check_entries(result, findings);
    for (const EnergyEntry& entry : result.energy.entries()) {
        const std::string what = fmt::format("{} {} of all layers", entry.path, entry.event);
        findings.equal(what + ", layers", static_cast<std::int64_t>(entry.layers.size()),
                       static_cast<std::int64_t>(result.layers.size()));
        std::int64_t count = 0;
        for (const std::int64_t share : entry.layers) count += share;
        findings.equal(what, count, entry.count);
    }
    Femtojoules all;
    for (std::size_t part = 0; part < kEnergyParts; ++part) {
        findings.equal(
            fmt::format("femtojoules of {} of all layers", to_string(static_cast<EnergyPart>(part))),
            sum(result.layers, [&](const ResultRow& row) { return row.energy[part].value(); }),
            result.total.energy[part].value());
        all += result.total.energy[part];
    }
    findings.equal("femtojoules of all parts", all.value(), result.energy.total().value());
    return findings.take();
}

void check_energy(const DeviceResult& result) {
    const std::vector<std::string> broken = energy_violations(result);
    SYSTOLE_CHECK(broken.empty(), "{}, {}:\n  {}", result.device, result.trace, fmt::join(broken, "\n  "));
}

void check_invariants(const DeviceResult& result, const Expectations& expected) {
    const std::vector<std::string> broken = violations(result, expected);
    SYSTOLE_CHECK(broken.empty(), "{}, {}, at {} ps:\n  {}", result.device, result.trace,
                  result.total.end.value(), fmt::join(broken, "\n  "));
}

}  // namespace systole
