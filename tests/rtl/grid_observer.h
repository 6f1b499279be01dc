// SPDX-License-Identifier: Apache-2.0
// Runs a case on the PE grid, cycle by cycle, and notes what an observer at the edges of the array sees, in
// the words of the Verilog testbenches.
#pragma once

#include <string>
#include <vector>

#include "tests/rtl/rtl_case.h"

namespace systole::test {

struct Observation {
    /// In no particular order:
    ///   shift CYCLE                      ws, is: a tile begins to be shifted in; os: results to be shifted
    ///   out start CYCLE                      a pass starts out CYCLE COLUMN ROW VALUE       a sum leaves the
    ///   array for accumulator ROW done CYCLE                       a pass is done accumulator ROW COLUMN
    ///   VALUE     in the end
    std::vector<std::string> lines;
    std::vector<Cycles> starts;  ///< of the passes
    Cycles end;                  ///< long after the last event
};

/// Every tile is announced in the beginning, every pass started as soon as it is ready and the grid allows.
Observation observe_grid(const RtlCase& rtl_case);

}  // namespace systole::test
