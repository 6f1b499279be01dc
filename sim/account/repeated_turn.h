// SPDX-License-Identifier: Apache-2.0
// A turn of a repeated block that is not simulated again. Its time and whose it was are those of a turn in
// the middle of the block; what it moved and counted is what a run with one turn more has more than one
// without.
#pragma once

#include <string>
#include <vector>

#include "sim/account/invariants.h"
#include "sim/account/run_result.h"

namespace systole {

/// Whose the time was until the first `layers` layers of a run had ended.
struct Mark {
    std::size_t layers = 0;
    Ticks time;
    std::vector<BusClocks> memory_bus;
    std::vector<CriticalStep> critical_path;  ///< the part of the run's that lies before `time`
};

/// Two turns one behind the other: from the first mark to the second, and from there to the third.
using TurnMarks = std::vector<Mark>;

/// Whether they took the same: equal bytes and MACs of every layer, times that differ by at most `jitter` a
/// layer (what one refresh takes) and by at most 1/2000 in all.
bool turns_agree(const DeviceResult& result, const TurnMarks& marks, Ticks jitter);

/// A result, and what is expected of it.
struct CheckedResult {
    DeviceResult result;
    Expectations expected;
};

/// Puts the second of the turns `times` more times behind itself. `shorter`: the same network with one turn
/// less. `names`: of all rows that are added. Marks further on are stale then.
void repeat_turn(CheckedResult& run, const TurnMarks& marks, const CheckedResult& shorter, std::size_t times,
                 const std::vector<std::string>& names);

}  // namespace systole
