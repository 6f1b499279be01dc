// SPDX-License-Identifier: Apache-2.0
#include "sim/account/repeated_turn.h"

#include <algorithm>
#include <array>

#include "sim/base/check.h"

namespace systole {
namespace {

constexpr std::int64_t kFineness = 2000;  // turns agree if their times differ by at most one in so many

Ticks distance(Ticks a, Ticks b) {
    return a < b ? b - a : a - b;
}

bool same_bytes(const std::vector<Movement>& a, const std::vector<Movement>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Movement& one, const Movement& other) {
        return one.from == other.from && one.to == other.to && one.operand == other.operand &&
               one.bytes == other.bytes;
    });
}

bool rows_agree(const ResultRow& a, const ResultRow& b, Ticks jitter) {
    return a.op == b.op && a.macs == b.macs && a.matrix_macs == b.matrix_macs &&
           a.lane_cycles == b.lane_cycles && same_bytes(a.movements, b.movements) &&
           distance(a.time(), b.time()) <= jitter;
}

/// `count` grows by what it has more than `less`, so many times.
template <class Count>
void extend(Count& count, const Count& less, std::int64_t times) {
    count += (count - less) * times;
}

void extend_path(std::vector<CriticalStep>& path, const Mark& begin, const Mark& end, std::int64_t times) {
    std::array<Ticks, kSlotClasses> sums{};
    const auto at = [&](SlotClass owner) -> Ticks& { return sums[static_cast<std::size_t>(owner)]; };
    for (const CriticalStep& step : path) at(step.owner) += step.time;
    for (const CriticalStep& step : end.critical_path) at(step.owner) += step.time * times;
    for (const CriticalStep& step : begin.critical_path) at(step.owner) -= step.time * times;
    std::vector<CausalLog::Piece> pieces;
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        pieces.push_back({Ticks(0), sums[i], static_cast<SlotClass>(i), CausalLog::kNone});
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

void add_rows(std::vector<ResultRow>& rows, const Mark& begin, const Mark& end, std::size_t times,
              const std::vector<std::string>& names) {
    const Ticks turn = end.time - begin.time;
    for (std::size_t i = end.layers; i < rows.size(); ++i) {
        rows[i].begin += turn * static_cast<std::int64_t>(times);
        rows[i].end += turn * static_cast<std::int64_t>(times);
    }
    std::vector<ResultRow> added;
    const std::size_t count = end.layers - begin.layers;
    for (std::size_t n = 0; n < names.size(); ++n) {
        ResultRow& row = added.emplace_back(rows[begin.layers + n % count]);
        const Ticks later = turn * static_cast<std::int64_t>(n / count + 1);
        row.name = names[n];
        row.begin += later, row.end += later;
        row.reused = true;
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

}  // namespace

bool turns_agree(const DeviceResult& result, const TurnMarks& marks, Ticks jitter) {
    const Mark &begin = marks.at(0), &middle = marks.at(1), &end = marks.at(2);
    const std::size_t count = middle.layers - begin.layers;
    SYSTOLE_CHECK(end.layers == middle.layers + count, "turns of {} and {} layers", count,
                  end.layers - middle.layers);
    for (std::size_t i = begin.layers; i < middle.layers; ++i)
        if (!rows_agree(result.layers[i], result.layers[i + count], jitter)) return false;
    const Ticks first = middle.time - begin.time, second = end.time - middle.time;
    return distance(first, second) * kFineness <= second;
}

void repeat_turn(CheckedResult& run, const TurnMarks& marks, const CheckedResult& shorter, std::size_t times,
                 const std::vector<std::string>& names) {
    const Mark &begin = marks.at(1), &end = marks.at(2);
    SYSTOLE_CHECK(names.size() == times * (end.layers - begin.layers), "{} names of {} x {} rows",
                  names.size(), times, end.layers - begin.layers);
    const auto n = static_cast<std::int64_t>(times);
    DeviceResult& result = run.result;
    const Ticks before = result.total.time();
    add_rows(result.layers, begin, end, times, names);
    extend_total(result, end.layers, names.size());
    extend(result.total.compulsory_dram, shorter.result.total.compulsory_dram, n);
    result.total.roofline = roofline(work_of(result.total), run.expected.peaks);
    extend_path(result.critical_path, begin, end, n);
    result.total.bound_by = bound_by(result.critical_path);
    for (std::size_t i = 0; i < result.stats.size(); ++i)
        extend(result.stats[i].value, shorter.result.stats[i].value, n);
    for (std::size_t i = 0; i < result.memory_bus.size(); ++i)
        result.memory_bus[i].clocks += (end.memory_bus[i].clocks - begin.memory_bus[i].clocks) * n;
    extend_energy(result, before);

    Expectations& expected = run.expected;
    for (std::size_t i = end.layers; i < end.layers + names.size(); ++i)
        expected.capacity += result.layers[i].capacity();
    extend(expected.macs, shorter.expected.macs, n);
    for (std::size_t i = 0; i < expected.ends.size(); ++i) {
        extend(expected.ends[i].out, shorter.expected.ends[i].out, n);
        extend(expected.ends[i].in, shorter.expected.ends[i].in, n);
    }
}

}  // namespace systole
