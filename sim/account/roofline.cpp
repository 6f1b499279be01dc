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

Roofline roofline(const Work& work, const Peaks& peaks) {
    const std::int64_t clock = peaks.clock.value();
    const Cycles compute = cycles_for(work.macs.value(), 1, peaks.macs_per_cycle, "MACs");
    const Cycles memory = cycles_for(work.dram.value(), clock, peaks.dram.value(), "DRAM bytes");
    const Bytes over_link = std::max(work.host_in, work.host_out);
    const Cycles host = cycles_for(over_link.value(), clock, peaks.host.value(), "host bytes");

    const Cycles cycles = std::max({compute, memory, host});
    if (cycles == Cycles()) return {cycles, "none"};
    return {cycles, cycles == compute ? "compute" : cycles == memory ? "memory" : "host"};
}

void set_roofline(ResultRow& row, const Peaks& peaks) {
    Work work{row.matrix_macs, row.dram_read + row.dram_written, Bytes(0), Bytes(0)};
    if (peaks.dram == BytesPerSecond::max()) work.dram = Bytes(0);
    for (const Movement& movement : row.movements) {
        if (movement.from == Place::Host) work.host_in += movement.bytes;
        if (movement.to == Place::Host) work.host_out += movement.bytes;
    }
    const Roofline floor = roofline(work, peaks);
    row.roofline_cycles = floor.cycles;
    row.roofline_bound = floor.bound;
}

}  // namespace systole
