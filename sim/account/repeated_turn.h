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

/// How many of the turns, from the last one back, may stand for those that are left out; 0 if they may not.
/// First, the most, at least two, of which
/// - every layer has the bytes and MACs that it has in the last, and a time that differs by at most twice
///   `jitter`, what one refresh takes at its begin and one at its end, and 1/200 of a turn: what ends a layer
///   may come before or behind what the next begins with, so that neighbours trade time;
/// - the times of whole turns differ by at most 1/2000 of their mean for each of the turns. What differs is
///   where in a turn refreshes fall, and that goes round: the sum of n turns differs from n times the mean by
///   no more than single turns do, and so does the sum of those left out, each n of which then are at most
///   1/2000 off;
/// - `jitter` is at most 1/1000 of all of them together: two short turns in a row may agree, and yet both
///   have a refresh more than most.
/// Of these the last ones, at least half, that tell most surely what a turn takes: the first ones may not
/// have settled.
std::size_t turns_that_agree(const DeviceResult& result, const TurnMarks& marks, Ticks jitter);

/// By how much `times` turns may differ from what the last `agreed` marked ones say of them.
Ticks uncertainty(const TurnMarks& marks, std::size_t agreed, std::size_t times);

/// So many turns would have to differ as little as those between the marks do, to be taken; at least two.
std::size_t turns_wanted(const TurnMarks& marks, Ticks jitter);

/// A result, and what is expected of it.
struct CheckedResult {
    DeviceResult result;
    Expectations expected;
};

/// Puts the turns between the marks behind themselves, one after the other and over again, `times` in all.
/// `names`: of all rows that are added. Marks further on are stale then.
void repeat_turns(CheckedResult& run, const TurnMarks& marks, std::size_t times,
                  const std::vector<std::string>& names);

}  // namespace systole
