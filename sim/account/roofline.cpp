// SPDX-License-Identifier: Apache-2.0
#include "sim/account/roofline.h"

#include <algorithm>
#include <limits>

#include "sim/account/run_result.h"
#include "sim/base/check.h"

namespace systole {
namespace {

/// ⌈amount * clock / rate⌉; the product may need 128 bits.
Cycles cycles_for(std::int64_t amount, std::int64_t clock, std::int64_t rate, const char* what) {
    SYSTOLE_CHECK(amount >= 0 && rate >= 0, "{}: {} at a rate of {}", what, amount, rate);
    if (amount == 0) return Cycles();
    SYSTOLE_CHECK(rate > 0 && clock > 0, "{}: {} at a rate of {} and a clock of {} Hz", what, amount, rate,
                  clock);
    const auto product = static_cast<Int128>(amount) * static_cast<Int128>(clock);
    const auto cycles = (product + static_cast<Int128>(rate) - 1) / static_cast<Int128>(rate);
    SYSTOLE_CHECK(cycles <= static_cast<Int128>(std::numeric_limits<std::int64_t>::max()),
                  "{}: the cycles of {} at a rate of {} leave 64 bits", what, amount, rate);
    return Cycles(static_cast<std::int64_t>(cycles));
}

}  // namespace

std::string_view to_string(Level level) {
    constexpr std::array<std::string_view, kLevels> kNames{"compute", "vector", "on_chip",
                                                           "memory",  "host",   "chips"};
    return kNames.at(static_cast<std::size_t>(level));
}

Work& Work::operator+=(const Work& other) {
    macs += other.macs;
    lane_cycles += other.lane_cycles;
    on_chip_read += other.on_chip_read;
    on_chip_written += other.on_chip_written;
    dram += other.dram;
    host_in += other.host_in;
    host_out += other.host_out;
    chips_in += other.chips_in;
    chips_out += other.chips_out;
    return *this;
}

Cycles Roofline::floor() const {
    return *std::ranges::max_element(cycles);
}

std::string_view Roofline::bound() const {
    const auto slowest = std::ranges::max_element(cycles);
    if (*slowest == Cycles()) return "none";
    return to_string(static_cast<Level>(slowest - cycles.begin()));
}

Roofline roofline(const Work& work, const Peaks& peaks) {
    const std::int64_t clock = peaks.clock.value();
    Roofline floor;
    const auto set = [&](Level level, Cycles cycles) {
        floor.cycles[static_cast<std::size_t>(level)] = cycles;
    };
    set(Level::Compute, cycles_for(work.macs.value(), peaks.macs.cycles, peaks.macs.macs, "MACs"));
    set(Level::Vector, cycles_for(work.lane_cycles, 1, peaks.lanes, "lane-cycles"));
    if (peaks.on_chip) {
        const Bytes bytes = peaks.on_chip->both_ways ? work.on_chip_read + work.on_chip_written
                                                     : std::max(work.on_chip_read, work.on_chip_written);
        set(Level::OnChip, cycles_for(bytes.value(), 1, peaks.on_chip->bytes_per_cycle, "scratchpad bytes"));
    }
    if (peaks.dram != BytesPerSecond::max())
        set(Level::Memory, cycles_for(work.dram.value(), clock, peaks.dram.value(), "DRAM bytes"));
    const Bytes over_link = std::max(work.host_in, work.host_out);
    set(Level::Host, cycles_for(over_link.value(), clock, peaks.host.value(), "host bytes"));
    const Bytes to_chips = std::max(work.chips_in, work.chips_out);
    set(Level::Chips, cycles_for(to_chips.value(), clock, peaks.chips.value(), "bytes of other chips"));
    return floor;
}

Work work_of(const ResultRow& row) {
    Work work{row.matrix_macs, row.lane_cycles, {}, {}, row.dram_read + row.dram_written, {}, {}};
    for (const Movement& movement : row.movements) {
        if (movement.from == Place::Scratchpad) work.on_chip_read += movement.bytes;
        if (movement.to == Place::Scratchpad) work.on_chip_written += movement.bytes;
        if (movement.from == Place::Host) work.host_in += movement.bytes;
        if (movement.to == Place::Host) work.host_out += movement.bytes;
        if (movement.from == Place::ChipLink) work.chips_in += movement.bytes;
        if (movement.to == Place::ChipLink) work.chips_out += movement.bytes;
    }
    return work;
}

}  // namespace systole
