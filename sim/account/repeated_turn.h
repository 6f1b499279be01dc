// SPDX-License-Identifier: Apache-2.0
// Turns of a repeated block that are not simulated again. Their times, whose those were, and what was moved
// and counted are those of the turns in the middle of the block, one after the other.
#pragma once

#include <string>
#include <vector>

#include "sim/account/invariants.h"
#include "sim/account/run_result.h"

namespace systole {

/// Whose the time was until the first `layers` layers of a run had ended, and what was counted.
struct Mark {
    std::size_t layers = 0;
    Ticks time;
    std::vector<BusClocks> memory_bus;
    std::vector<CriticalStep> critical_path;  ///< the part of the run's that lies before `time`
    /// Of each counter of the result: where it follows from the commands alone, what those of the first
    /// `layers` layers count, whatever else has begun; of others (waits, conflicts) what was counted by then.
    std::vector<std::int64_t> counts;
    Bytes compulsory_dram;  ///< of these layers
};

/// Turns one behind the other: the first from the first mark to the second, and so on.
using TurnMarks = std::vector<Mark>;

/// How many there are between the marks.
inline std::size_t turns_of(const TurnMarks& marks) {
    return marks.size() - 1;
}

/// What a turn took, the first one being 0.
inline Ticks time_of(const TurnMarks& marks, std::size_t turn) {
    return marks[turn + 1].time - marks[turn].time;
}

/// A result, and what is expected of it.
struct CheckedResult {
    DeviceResult result;
    Expectations expected;
};

/// Puts the turns between the marks behind themselves, one after the other and over again, `times` in all.
/// `names`: of all rows that are added. Marks further on are stale then. Where a turn's end moves, so few may
/// take less than their work does at the device's peaks, and many like them would be faster than the machine:
/// each that is added takes then so much more of what turns spend most of their critical path on.
void repeat_turns(CheckedResult& run, const TurnMarks& marks, std::size_t times,
                  const std::vector<std::string>& names);

}  // namespace systole
