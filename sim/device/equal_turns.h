// SPDX-License-Identifier: Apache-2.0
// Something that runs as so many layers one behind the other, some of them equal turns, of which not all are
// simulated.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/account/repeated_turn.h"
#include "sim/account/turn_agreement.h"
#include "sim/base/units.h"
#include "sim/workload/graph.h"

namespace systole {

/// With fewer turns than this it is as cheap to simulate them all.
constexpr std::size_t kTurnsWorthReuse = 16;

struct EqualTurns {
    struct Block {
        std::size_t first_layer = 0, layers = 0, turns = 0;
        bool alike = true;  ///< some turns may be left out
        bool worth_it() const { return alike && turns >= kTurnsWorthReuse; }
    };
    std::vector<std::string> names;  ///< of all layers
    std::vector<Block> blocks;       ///< in order
};

/// Those of a graph's blocks, in rows of its result: so many layers each, one behind the other, are one row
/// (`joined`, whose sum is the number of layers), which has the first one's name. Turns are not alike of
/// which a row holds a part, or whose rows are other layers each.
EqualTurns turns_of(const Graph& graph, const std::vector<std::size_t>& joined);
/// The same where each layer is a row.
EqualTurns turns_of(const Graph& graph);

/// A run with so many turns of each block, the first ones and the last kLastTurns. Marks are wanted after so
/// many layers each, ascending: where turns begin and end that may stand for others.
struct TurnsLeft {
    std::vector<std::size_t> turns;
    std::vector<std::size_t> marked;  ///< by block: so many marks, after its first turn and those behind it
    std::vector<std::size_t> marks;
};

/// So many turns of each block, all marked but the last ones.
TurnsLeft with_turns(const EqualTurns& all, std::vector<std::size_t> turns);
/// The same with so many marks each.
TurnsLeft with_turns(const EqualTurns& all, std::vector<std::size_t> turns, std::vector<std::size_t> marked);

/// The marks of each block, of all that are met.
std::vector<TurnMarks> by_block(const std::vector<std::size_t>& marked, const std::vector<Mark>& met);

/// By how much a run may be off whose last `times` turns of a block but kLastTurns are left out: those turns,
/// and the last ones in their place.
Ticks doubt_of(const TurnMarks& marks, const Agreement& agreed, std::size_t times,
               const TurnRule& rule = kInRounds);

/// By how much it may be off for a refresh of `jitter` more or less at either end of what comes behind each
/// of so many blocks: these are independent, so that together they count as the root of their number does.
Ticks doubt_of_ends(std::size_t blocks, Ticks jitter);

}  // namespace systole
