// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/left_out_ctas.h"

#include <algorithm>
#include <array>
#include <string>

#include "models/devices/simt/machine/layer_times.h"
#include "sim/account/invariants.h"
#include "sim/base/check.h"
#include "sim/base/clock.h"
#include "sim/device/merged_parts.h"

namespace systole::simt {
namespace {

using Times = std::array<Int128, kSlotClasses>;

constexpr auto at(SlotClass owner) {
    return static_cast<std::size_t>(owner);
}

/// Its largest share gets what rounding leaves.
Times scaled(const Times& shares, Int128 sum) {
    Int128 all = 0;
    for (const Int128 share : shares) all += share;
    Times times{};
    Int128 left = sum;
    for (std::size_t c = 0; c < kSlotClasses && all > 0; ++c) left -= times[c] = shares[c] * sum / all;
    *std::ranges::max_element(times) += left;
    return times;
}

/// Tensor cores need so much for MACs: what a sample ends a little early takes from the longest wait.
void give_useful(Times& times, Int128 needed) {
    Int128& useful = times[at(SlotClass::Useful)];
    while (useful < needed) {
        Int128* longest = nullptr;
        for (Int128& time : times)
            if (&time != &useful && (longest == nullptr || time > *longest)) longest = &time;
        const Int128 some = std::min(needed - useful, *longest);
        if (some == 0) break;
        *longest -= some;
        useful += some;
    }
}

/// The time of the CTAs that stand for others, as of a kernel of their own. Shares are in 2^8 ps, so that
/// products with fine time of all SMs fit into 127 bits for any run (kLongestRun).
LayerTimes times_of(const CtaSample::LeftOut& left_out, std::int64_t macs, const SmArray::Record& kernel,
                    const SimtSpec& spec, DType dtype) {
    SmArray::Record turn;
    turn.end = left_out.last.mark.time - left_out.first.mark.time;
    turn.clock = kernel.clock;
    turn.account.macs = macs;
    const Int128 each = Int128{turn.end.value()} << kFineBits;
    const std::int64_t sms = spec.sm.for_clusters(kernel.account.cluster);
    Times shares = left_out.last.times;
    for (std::size_t c = 0; c < kSlotClasses; ++c)
        shares[c] = (shares[c] - left_out.first.times[c]) >> (kFineBits + 8);
    turn.account.times = scaled(shares, each * sms);
    const std::int64_t slots = spec.macs_per_cycle(dtype) / spec.sm.count;
    if (macs > 0) {
        const Int128 needed = (Int128{macs} * kTicksPerSecond << kFineBits) / kernel.clock.value();
        give_useful(turn.account.times, (needed + slots - 1) / slots);
    }
    turn.account.times[at(SlotClass::Tail)] += each * (spec.sm.count - sms);
    const Times last = scaled(turn.account.times, each);
    for (std::size_t c = 0; c < kSlotClasses; ++c) turn.account.last[c] = static_cast<std::int64_t>(last[c]);
    LayerTimes times(spec.sm.count, spec.core_clock);
    times.add(turn);
    return times;
}

std::vector<Movement> moved_between(const CtaSample::LeftOut& left_out) {
    std::vector<Movement> moved = left_out.last.movements;
    for (const Movement& before : left_out.first.movements)
        for (Movement& movement : moved)
            if (movement.from == before.from && movement.to == before.to &&
                movement.operand == before.operand)
                movement.bytes -= before.bytes;
    return moved;
}

/// What the CTAs that stand for others are of `all`, at its end.
ResultRow part_of(const ResultRow& all, const CtaSample::LeftOut& left_out, const LayerTimes& times,
                  std::int64_t macs, std::int64_t slots, const ClockDomain& clock) {
    ResultRow part = all;
    part.operations.clear();  // of those left out all are known
    part.compulsory_dram = Bytes();
    part.begin = all.end - times.time();
    part.cycles = clock.at_or_after(part.end) - clock.at_or_after(part.begin);
    part.macs = part.matrix_macs = Macs(macs);
    part.slots = times.slots(slots);
    part.movements = moved_between(left_out);
    part.dram_read = part.dram_written = Bytes();
    for (const Movement& movement : part.movements) {
        if (movement.from == Place::Dram) part.dram_read += movement.bytes;
        if (movement.to == Place::Dram) part.dram_written += movement.bytes;
    }
    return part;
}

/// `all` without `part`: not less than nothing only together with it.
ResultRow less(ResultRow all, const ResultRow& part) {
    all.end = part.begin;
    all.cycles -= part.cycles;
    all.macs -= part.macs;
    all.matrix_macs -= part.matrix_macs;
    for (std::size_t c = 0; c < kSlotClasses; ++c) all.slots[c] -= part.slots[c];
    for (const Movement& taken : part.movements)
        for (Movement& movement : all.movements)
            if (movement.from == taken.from && movement.to == taken.to && movement.operand == taken.operand)
                movement.bytes -= taken.bytes;
    all.dram_read -= part.dram_read;
    all.dram_written -= part.dram_written;
    return all;
}

/// Before and behind what stands for others.
TurnMarks marks_of(const DeviceResult& result, const ResultRow& part, const CtaSample::LeftOut& left_out,
                   const LayerTimes& times, std::int64_t slots) {
    Mark begin, end;
    begin.layers = 1;
    begin.time = part.begin;
    end.layers = 2;
    end.time = part.end;
    end.critical_path = times.path();
    const Mark &first = left_out.first.mark, &last = left_out.last.mark;
    for (std::size_t i = 0; i < last.memory_bus.size(); ++i) {
        begin.memory_bus.push_back({last.memory_bus[i].owner, 0});
        const std::int64_t before = i < first.memory_bus.size() ? first.memory_bus[i].clocks : 0;
        end.memory_bus.push_back({last.memory_bus[i].owner, last.memory_bus[i].clocks - before});
    }
    for (std::size_t i = 0; i < last.counts.size(); ++i) {
        begin.counts.push_back(0);
        // Tails are counted when a kernel has ended.
        const bool tails = result.stats[i].name == "tail_time";
        end.counts.push_back(tails ? part.slots[at(SlotClass::Tail)] / slots
                                   : last.counts[i] - first.counts[i]);
    }
    return {begin, end};
}

}  // namespace

void add_left_out(CheckedResult& run, const CtaSample::LeftOut& left_out, const LeftOutWork& work,
                  const SmArray::Record& kernel, const SimtSpec& spec, DType dtype) {
    DeviceResult& result = run.result;
    SYSTOLE_CHECK(result.layers.size() == 1, "{} layers of a kernel that left CTAs out",
                  result.layers.size());
    const ClockDomain clock(spec.core_clock);
    const std::int64_t slots = spec.macs_per_cycle(dtype) / spec.sm.count;
    const std::int64_t macs = work.macs.value() / left_out.times;
    const LayerTimes times = times_of(left_out, macs, kernel, spec, dtype);
    const ResultRow part = part_of(result.layers.front(), left_out, times, macs, slots, clock);
    const TurnMarks marks = marks_of(result, part, left_out, times, slots);
    result.layers = {less(result.layers.front(), part), part};
    const auto repeated = static_cast<std::size_t>(left_out.times);
    repeat_turns(run, marks, repeated, std::vector<std::string>(repeated, part.name));

    merge_rows(result, std::vector<std::size_t>(result.layers.size(), 0));
    ResultRow& row = result.layers.front();
    add_counts(row.operations, work.operations);
    // CTAs at the edges of a result have fewer: these repeat, but not always evenly.
    const Macs uneven = work.macs - Macs(macs * left_out.times);
    for (ResultRow* counted : {&row, &result.total}) {
        counted->macs += uneven;
        counted->matrix_macs += uneven;
        counted->cycles = clock.at_or_after(counted->end);
    }
    run.expected.macs += uneven;
    Peaks peaks = result.peaks;
    peaks.macs = MacRate{spec.macs_per_cycle(dtype)};
    row.roofline = roofline(work_of(row), peaks);
    result.total.roofline = roofline(work_of(result.total), run.expected.peaks);
    row.bound_by = result.total.bound_by = bound_by(result.critical_path, result.total.roofline);
    check_invariants(result, run.expected);
    result.reuse = KnownTime{left_out.off, true};
}

}  // namespace systole::simt
