// SPDX-License-Identifier: Apache-2.0
#include "sim/account/repeated_turn.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {
namespace {

/// What `times` turns take of something that grows along a run: `until(n)` is its sum over the first n marked
/// ones.
template <class Until>
auto over_turns(std::size_t times, std::size_t turns, Until until) {
    return until(turns) * static_cast<std::int64_t>(times / turns) + until(times % turns);
}

void extend_path(std::vector<CriticalStep>& path, const TurnMarks& marks, std::size_t times) {
    const auto sum = [](const std::vector<CriticalStep>& steps, SlotClass owner) {
        Ticks time;
        for (const CriticalStep& step : steps)
            if (step.owner == owner) time += step.time;
        return time;
    };
    std::vector<CausalLog::Piece> pieces;
    for (std::size_t i = 0; i < kSlotClasses; ++i) {
        const auto owner = static_cast<SlotClass>(i);
        const Ticks added = over_turns(times, turns_of(marks), [&](std::size_t n) {
            return sum(marks[n].critical_path, owner) - sum(marks[0].critical_path, owner);
        });
        pieces.push_back({Ticks(0), sum(path, owner) + added, owner, CausalLog::kNone});
    }
    path = critical_path(pieces);
}

/// Energy follows its counters; what has none follows time.
void extend_energy(DeviceResult& result, Ticks before) {
    EnergyLedger energy;
    for (EnergyEntry entry : result.energy.entries()) {
        const auto counter = std::ranges::find_if(result.stats, [&](const Stat& stat) {
            return stat.path == entry.path && stat.name == entry.counter;
        });
        entry.count = counter != result.stats.end()
                          ? counter->value
                          : static_cast<std::int64_t>(static_cast<Int128>(entry.count) *
                                                      result.total.time().value() / before.value());
        energy.enter(std::move(entry));
    }
    result.energy = std::move(energy);
}

void add_rows(std::vector<ResultRow>& rows, const TurnMarks& marks, std::size_t times,
              const std::vector<std::string>& names) {
    const Mark& end = marks.back();
    const std::size_t count = marks[1].layers - marks[0].layers;
    std::vector<ResultRow> added;
    Ticks now = end.time;
    for (std::size_t n = 0; n < times; ++n) {
        const std::size_t turn = n % turns_of(marks);
        for (std::size_t i = 0; i < count; ++i) {
            ResultRow& row = added.emplace_back(rows[marks[turn].layers + i]);
            row.name = names[n * count + i];
            row.begin += now - marks[turn].time;
            row.end += now - marks[turn].time;
            row.reused = true;
        }
        now += time_of(marks, turn);
    }
    for (std::size_t i = end.layers; i < rows.size(); ++i) {
        rows[i].begin += now - end.time;
        rows[i].end += now - end.time;
    }
    rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(end.layers), added.begin(), added.end());
}

/// The rows that were added, into the total.
void extend_total(DeviceResult& result, std::size_t first, std::size_t count) {
    ResultRow& total = result.total;
    ByteLedger moved(1);
    const auto enter = [&](const ResultRow& row) {
        for (const Movement& cell : row.movements)
            moved.enter(0, cell.from, cell.to, cell.operand, cell.bytes);
    };
    enter(total);
    for (std::size_t i = first; i < first + count; ++i) {
        const ResultRow& row = result.layers[i];
        enter(row);
        total.end += row.time();
        total.cycles += row.cycles;
        total.macs += row.macs;
        total.matrix_macs += row.matrix_macs;
        total.lane_cycles += row.lane_cycles;
        total.dram_read += row.dram_read;
        total.dram_written += row.dram_written;
        for (std::size_t c = 0; c < kSlotClasses; ++c) total.slots[c] += row.slots[c];
        if (!total.utilization_slots) continue;
        for (const SlotClass work : {SlotClass::Useful, SlotClass::Padding, SlotClass::Ramp})
            *total.utilization_slots += row.slots[static_cast<std::size_t>(work)];
    }
    total.movements = moved.movements();
}

/// The ends of what is repeated were counted where it was simulated.
void expect_row(Expectations& expected, const ResultRow& row) {
    expected.capacity += row.capacity();
    expected.macs += row.macs;
    for (EndCount& end : expected.ends)
        for (const Movement& moved : row.movements) {
            if (moved.from == end.place) end.out += moved.bytes;
            if (moved.to == end.place) end.in += moved.bytes;
        }
}

}  // namespace

void repeat_turns(CheckedResult& run, const TurnMarks& marks, std::size_t times,
                  const std::vector<std::string>& names) {
    const Mark& end = marks.back();
    SYSTOLE_CHECK(names.size() == times * (marks[1].layers - marks[0].layers), "{} names of {} turns",
                  names.size(), times);
    const auto added = [&](auto value_at) {
        return over_turns(times, turns_of(marks),
                          [&](std::size_t turns) { return value_at(marks[turns]) - value_at(marks[0]); });
    };
    DeviceResult& result = run.result;
    const Ticks before = result.total.time();
    add_rows(result.layers, marks, times, names);
    extend_total(result, end.layers, names.size());
    result.total.compulsory_dram += added([](const Mark& mark) { return mark.compulsory_dram; });
    result.total.roofline = roofline(work_of(result.total), run.expected.peaks);
    extend_path(result.critical_path, marks, times);
    result.total.bound_by = bound_by(result.critical_path, result.total.roofline);
    for (std::size_t i = 0; i < result.stats.size(); ++i)
        result.stats[i].value += added([i](const Mark& mark) { return mark.counts[i]; });
    for (std::size_t i = 0; i < result.memory_bus.size(); ++i)
        result.memory_bus[i].clocks += added([i](const Mark& mark) { return mark.memory_bus[i].clocks; });
    extend_energy(result, before);
    for (std::size_t i = end.layers; i < end.layers + names.size(); ++i)
        expect_row(run.expected, result.layers[i]);
}

}  // namespace systole
