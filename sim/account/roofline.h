// SPDX-License-Identifier: Apache-2.0
// The floor below every run: no machine with these peaks does this work in fewer cycles, however well it
// overlaps. Integer-exact, so that a run may be held to it.
#pragma once

#include <string>

#include "sim/base/units.h"

namespace systole {

struct ResultRow;

/// The highest rates of a device. A rate of 0 says that the device has no such path.
struct Peaks {
    std::int64_t macs_per_cycle = 0;  ///< of all matrix units together, at the work's dtype
    BytesPerSecond dram;              ///< reads and writes together
    BytesPerSecond host;              ///< each direction
    Hertz clock;                      ///< of the cycles
};

/// What is to be done: MACs on matrix units, bytes over the DRAM bus, bytes over the host link.
struct Work {
    Macs macs;
    Bytes dram;
    Bytes host_in, host_out;
};

struct Roofline {
    Cycles cycles;
    std::string bound;  ///< "compute", "memory", "host": which peak; of equals the first; "none": no work
};

/// The slowest of macs ÷ macs_per_cycle, dram ÷ its rate, and the host direction that carries more ÷ its
/// rate, rounded up to cycles. Work for a path of rate 0 is a failed check.
Roofline roofline(const Work& work, const Peaks& peaks);

/// That of a row's matrix MACs and movements, into the row. An infinite DRAM is no roof.
void set_roofline(ResultRow& row, const Peaks& peaks);

}  // namespace systole
