// SPDX-License-Identifier: Apache-2.0
// Reuse of repeated blocks: of many equal turns (the layers of a transformer) the first ones and the last two
// are simulated, and the others take the accounts of those in the middle, once these have agreed. The same
// for every device kind.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "sim/account/repeated_turn.h"
#include "sim/account/run_result.h"
#include "sim/account/turn_agreement.h"
#include "sim/device/equal_turns.h"
#include "sim/device/growing_turns.h"
#include "sim/device/turn_attempt.h"
#include "sim/workload/graph.h"
#include "sim/workload/shorter_graph.h"

namespace systole {

/// Whether turns of `graph` may not all be simulated: it has a block of so many equal ones.
bool may_reuse(const Graph& graph);

/// Runs something with so many turns of each block, the first ones and the last kLastTurns; marks are wanted
/// after so many layers each, ascending. Nothing where turns of such a run may stand for no others: it is the
/// last then.
using RunTurns = std::function<std::optional<MarkedRun>(const std::vector<std::size_t>& turns,
                                                        const std::vector<std::size_t>& marks)>;

/// Runs a shorter network; marks are wanted after so many layers each, ascending. Nothing where turns of such
/// a run may stand for no others: it is the last then.
using RunShorter = std::function<std::optional<MarkedRun>(const ShorterGraph& shorter,
                                                          const std::vector<std::size_t>& marks)>;

/// Another network with which a run goes on: the one that runs, but for turns that have not begun. Marks are
/// wanted after so many layers each, those that were met first.
struct GoOn {
    ShorterGraph shorter;
    std::vector<std::size_t> marks;
};

/// Asked when so many marks are met: the network with which the run goes on, if not as it is. `alike`: as far
/// as is known then, as of the whole run.
using GoOnWith = std::function<std::optional<GoOn>(const std::vector<Mark>& met, bool alike)>;

/// As RunShorter; the marks are those of the network with which it went on last.
using RunSample = std::function<std::optional<MarkedRun>(
    const ShorterGraph& shorter, const std::vector<std::size_t>& marks, const GoOnWith& go_on_with)>;

/// How far reuse may go.
struct ReuseRules {
    std::size_t most_layers = std::numeric_limits<std::size_t>::max();  ///< of all runs but the first
    TurnRule rule = kInRounds;
    /// Of the first run: turns that may stand for those left out, if not as many as mostly tell enough.
    std::optional<std::size_t> at_first = {};
};

/// The result of all turns by runs of fewer. Nothing if there is no block of kTurnsWorthReuse, if they do not
/// come to agree, or if `run` gives nothing. Throws UserError for a run that is too long to be accounted for.
std::optional<DeviceResult> run_reusing(const EqualTurns& turns, const RunTurns& run,
                                        const ReuseRules& rules = {});

/// Asked when so many marks are met, and so many turns of each block have begun: with how many of each the
/// run goes on, if not as it is. It is the run as it was, but for turns that have not begun.
using HowManyTurns = std::function<std::optional<TurnsLeft>(const std::vector<Mark>& met,
                                                            const std::vector<std::size_t>& begun)>;

/// Runs so many turns at first; with how many it goes on it is told on the way. Nothing if it cannot.
using RunGrowing =
    std::function<std::optional<MarkedRun>(const TurnsLeft& at_first, const HowManyTurns& how_many)>;

/// As run_reusing(), where a run can get more turns on the way: if the first few do not agree, or cannot, all
/// that is wanted is found in one run, of each block by itself. Nothing as well if the last turns had begun
/// before there could be more.
std::optional<DeviceResult> run_growing(const EqualTurns& turns, const RunTurns& at_first,
                                        const GrowingRules& rules, const RunGrowing& run);

/// The result of `graph` by runs of shorter ones. Nothing if it has no block with many equal turns, if
/// they do not come to agree, or if `run` gives nothing. Throws UserError for a run that is too long to be
/// accounted for.
std::optional<DeviceResult> run_reusing(const Graph& graph, const RunShorter& run,
                                        const ReuseRules& rules = {});

/// A result, and the rule by which turns stand for others in it.
struct Reused {
    DeviceResult result;
    TurnRule rule;
};

/// As run_reusing(); where the first few turns do not agree, those that differ are judged by `otherwise`.
std::optional<Reused> run_reusing_or(const Graph& graph, const RunShorter& run, const ReuseRules& rules,
                                     const TurnRule& otherwise);

/// As above, of turns that `rule` lets differ by chance: no more of them are simulated than tell the mean.
/// Where all of one block are wanted for that, or its turns stand for no others, the result is of all. Marks
/// are wanted after so many rows of the result, of `joined` layers each (turns_of()).
std::optional<DeviceResult> run_sampling(const Graph& graph, const std::vector<std::size_t>& joined,
                                         const RunSample& run, const TurnRule& rule = kByChance);

}  // namespace systole
