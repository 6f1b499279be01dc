// SPDX-License-Identifier: Apache-2.0
// What a memory has to tell of a run.
#include <algorithm>

#include "models/memory/dram.h"
#include "models/memory/dram_energy.h"
#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole {

void Dram::fix_until_now() {
    SYSTOLE_CHECK(in_time_ || held_.empty(), "{}: asked while {} requests stand before full doors", name(),
                  held_.size());
    for (Group& group : channels_.groups()) advance(group, clock_now());
    sleep();
}

/// Of all channels, up to the current time.
DramChannel::Stats Dram::counts() {
    fix_until_now();
    return channels_.stats();
}

/// A transaction is answered when its last byte has passed; the others are taken to have come just before, at
/// the memory's peak.
void Dram::count(bool write, Bytes bytes) {
    (write ? bytes_written_ : bytes_read_) += bytes;
    if (!traffic_) return;
    const Int128 time = Int128{bytes.value()} * kTicksPerSecond / spec_.peak().value();
    const Ticks end = systole::now();
    const Ticks begin(std::max<std::int64_t>(0, end.value() - static_cast<std::int64_t>(time)));
    (write ? traffic_->written : traffic_->read).add(begin, end, bytes.value());
}

// Transactions that were answered together came over several channels, each slower than the peak of all.
std::vector<CounterTrack> Dram::traffic(Ticks end) const {
    if (!traffic_) return {};
    Traffic traffic = *traffic_;
    traffic.read.spill_back(spec_.peak().value(), end);
    traffic.written.spill_back(spec_.peak().value(), end);
    return {traffic.read.rate(name(), "read", "GB/s", kGigabytesPerSecond, end),
            traffic.written.rate(name(), "write", "GB/s", kGigabytesPerSecond, end)};
}

void Dram::account_energy(EnergyLedger& ledger) {
    enter_energy(spec_, counts(), systole::now(), name(), ledger);
}

BusAccount Dram::bus_account() {
    fix_until_now();
    const Cycles now = clock_now();
    const BusAccount sum = channels_.account(now);
    const std::int64_t clocks = now.value() * (map_ ? spec_.data_buses() : 0);
    SYSTOLE_CHECK(sum.total() == clocks, "{}: {} of {} clocks of the data buses have an owner", name(),
                  sum.total(), clocks);
    return sum;
}

std::vector<Stat> Dram::stats() {
    const DramChannel::Stats sum = counts();
    const auto stat = [this](const char* counter, const char* unit, const char* meaning, std::int64_t value) {
        return Stat{name(), counter, unit, meaning, value};
    };
    return {
        stat("bytes_read", "B", "payload bytes of answered reads", bytes_read_.value()),
        stat("bytes_written", "B", "payload bytes of answered writes", bytes_written_.value()),
        stat("read_bursts", "bursts", "read commands given", sum.read_bursts),
        stat("write_bursts", "bursts", "write commands given", sum.write_bursts),
        stat("activates", "commands", "rows opened", sum.activates),
        stat("precharges", "commands", "rows closed, those for a refresh included", sum.precharges),
        stat("refreshes", "commands", "all-bank refreshes", sum.refreshes),
        stat("bank_refreshes", "commands", "refreshes of one bank", sum.bank_refreshes),
        stat("row_hits", "bursts", "bursts that found their row open", sum.row_hits()),
        stat("bus_busy", "cycles", "command clocks with data on a bus, summed over channels",
             sum.bus_busy.value()),
    };
}

}  // namespace systole
