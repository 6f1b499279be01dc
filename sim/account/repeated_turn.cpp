// SPDX-License-Identifier: Apache-2.0
#include "sim/account/repeated_turn.h"

#include <algorithm>
#include <array>

#include "sim/account/roofline.h"
#include "sim/base/check.h"
#include "sim/base/clock.h"

namespace systole {
namespace {

/// What `times` turns take of something that grows along a run: `until(n)` is its sum over the first n marked
/// ones.
template <class Until>
auto over_turns(std::size_t times, std::size_t turns, Until until) {
    return until(turns) * static_cast<std::int64_t>(times / turns) + until(times % turns);
}

/// What each turn takes more than is marked.
struct Missing {
    Cycles cycles;
    Ticks time;
    SlotClass owner = SlotClass::Useful;
};

/// Of the critical path between two marks the class with most of its time.
SlotClass longest_owner(const Mark& begin, const Mark& end) {
    std::array<std::int64_t, kSlotClasses> time{};
    const auto of = [&](SlotClass owner) -> std::int64_t& { return time[static_cast<std::size_t>(owner)]; };
    for (const CriticalStep& step : end.critical_path) of(step.owner) += step.time.value();
    for (const CriticalStep& step : begin.critical_path) of(step.owner) -= step.time.value();
    return static_cast<SlotClass>(std::ranges::max_element(time) - time.begin());
}

/// How much less turns take than what they do at the device's peaks, shared evenly.
Missing missing_of(const CheckedResult& run, const TurnMarks& marks) {
    Work work;
    Cycles cycles;
    for (std::size_t i = marks.front().layers; i < marks.back().layers; ++i) {
        work += work_of(run.result.layers[i]);
        cycles += run.result.layers[i].cycles;
    }
    const Peaks& peaks = run.expected.peaks;
    const std::int64_t less = (roofline(work, peaks).floor() - cycles).value();
    if (less <= 0) return {};
    const auto turns = static_cast<std::int64_t>(turns_of(marks));
    const Cycles each((less + turns - 1) / turns);
    return {each, ClockDomain(peaks.clock).after(Ticks(0), each), longest_owner(marks.front(), marks.back())};
}

void extend_path(std::vector<CriticalStep>& path, const TurnMarks& marks, std::size_t times,
                 const Missing& missing) {
    const auto sum = [](const std::vector<CriticalStep>& steps, SlotClass owner) {
        Ticks time;
        for (const CriticalStep& step : steps)
            if (step.owner == owner) time += step.time;
        return time;
    };
    std::vector<CausalLog::Piece> pieces;
    for (std::size_t i = 0; i < kSlotClasses; ++i) {
        const auto owner = static_cast<SlotClass>(i);
        Ticks added = over_turns(times, turns_of(marks), [&](std::size_t n) {
            return sum(marks[n].critical_path, owner) - sum(marks[0].critical_path, owner);
        });
        if (owner == missing.owner) added += missing.time * static_cast<std::int64_t>(times);
        pieces.push_back({Ticks(0), sum(path, owner) + added, owner, CausalLog::kNone});
    }
    path = critical_path(pieces);
}

/// What is missing is of the owner that most of these turns' clocks have.
void extend_memory_bus(std::vector<BusClocks>& buses, const TurnMarks& marks, std::size_t times,
                       const Missing& missing) {
    std::int64_t all = 0, most = 0;
    BusClocks* longest = nullptr;
    for (std::size_t i = 0; i < buses.size(); ++i) {
        const auto until = [&](std::size_t n) {
            return marks[n].memory_bus[i].clocks - marks[0].memory_bus[i].clocks;
        };
        const std::int64_t clocks = until(turns_of(marks));
        if (longest == nullptr || clocks > most) most = clocks, longest = &buses[i];
        all += clocks;
        buses[i].clocks += over_turns(times, turns_of(marks), until);
    }
    const Ticks taken = marks.back().time - marks.front().time;
    if (longest != nullptr && taken > Ticks(0))
        longest->clocks += static_cast<std::int64_t>(Int128{all} * missing.time.value() *
                                                     static_cast<std::int64_t>(times) / taken.value());
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

void add_rows(DeviceResult& result, const TurnMarks& marks, std::size_t times,
              const std::vector<std::string>& names, const Missing& missing) {
    std::vector<ResultRow>& rows = result.layers;
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
        if (missing.time == Ticks(0)) continue;
        const std::int64_t slots = result.total.capacity() / result.total.time().value();
        ResultRow& last = added.back();
        last.end = now += missing.time;
        last.cycles += missing.cycles;
        last.slots[static_cast<std::size_t>(missing.owner)] += slots * missing.time.value();
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
    const Missing missing = missing_of(run, marks);
    add_rows(result, marks, times, names, missing);
    extend_total(result, end.layers, names.size());
    result.total.compulsory_dram += added([](const Mark& mark) { return mark.compulsory_dram; });
    result.total.roofline = roofline(work_of(result.total), run.expected.peaks);
    extend_path(result.critical_path, marks, times, missing);
    result.total.bound_by = bound_by(result.critical_path, result.total.roofline);
    for (std::size_t i = 0; i < result.stats.size(); ++i)
        result.stats[i].value += added([i](const Mark& mark) { return mark.counts[i]; });
    extend_memory_bus(result.memory_bus, marks, times, missing);
    extend_energy(result, before);
    for (std::size_t i = end.layers; i < end.layers + names.size(); ++i)
        expect_row(run.expected, result.layers[i]);
}

}  // namespace systole
