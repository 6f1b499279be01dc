// SPDX-License-Identifier: Apache-2.0
// What must hold for every result, whatever ran on whatever device. A violation is our bug. Checked at the
// end of every run, in release builds too.
#pragma once

#include <string>
#include <vector>

#include "sim/account/roofline.h"
#include "sim/account/run_result.h"

namespace systole {

/// The bytes that one place saw pass, counted by itself and not by the mover.
struct EndCount {
    Place place;
    Bytes out, in;
};

/// Banks that serve at most so many lines a cycle, all clients together, however many bytes of them these
/// take.
struct BankLines {
    std::string path;  ///< of the counters "…_accesses"
    std::int64_t per_cycle = 0;
};

/// What is known about a run from elsewhere than its accounts.
struct Expectations {
    std::int64_t capacity = 0;   ///< slot-ticks: the units' slots x the run's time
    Macs macs;                   ///< of all operators of the trace
    std::vector<EndCount> ends;  ///< places that count for themselves
    Peaks peaks;
    std::vector<BankLines> banks = {};
};

/// The promises that `result` breaks, a sentence each; empty if it keeps them all:
/// - class slots of the total are the capacity, and every slot count is at least 0;
/// - layers sum to the total in cycles, time, MACs, slots by class, and bytes by cell; MACs are the
/// operators';
/// - the bytes entered by movers are those that each end counted;
/// - the critical path is as long as the run;
/// - the energy of all entries is the ledger's, no count is negative, and each is what its counter says;
/// - nothing ran above its peak: matrix units, DRAM, host link, banks in bytes and in lines; the run is not
/// shorter than its roofline.
/// Compulsory bytes are no sum (layers share tensors), and single layers may beat their rooflines (prefetch).
std::vector<std::string> violations(const DeviceResult& result, const Expectations& expected);

/// Whether `result` breaks the last of these promises: one made of fewer turns than it tells of may seem to.
bool above_peaks(const DeviceResult& result, const Expectations& expected);

/// Of a result whose energy is whole: each entry's layers sum to its count, layers to the total in every
/// part, and parts to the ledger.
std::vector<std::string> energy_violations(const DeviceResult& result);

/// Aborts with all of those, if there are any.
void check_energy(const DeviceResult& result);

/// Aborts with all violations, if there are any.
void check_invariants(const DeviceResult& result, const Expectations& expected);

}  // namespace systole
