// SPDX-License-Identifier: Apache-2.0
// Whether turns of a block that were simulated may stand for those that were not, and how well these are
// known then.
#pragma once

#include <cstddef>
#include <optional>

#include "sim/account/refresh_window.h"
#include "sim/account/repeated_turn.h"
#include "sim/account/run_result.h"
#include "sim/base/units.h"

namespace systole {

/// By what turns that do the same differ.
enum class TurnsDiffer {
    InRounds,  ///< where refreshes fall, which goes round: n turns differ from n times the mean by no more
               ///< than one does
    ByChance,  ///< what their addresses meet in a cache and in banks besides: each by itself
};

/// By what turns differ, and how well all of them are to be known from some.
struct TurnRule {
    TurnsDiffer differ = TurnsDiffer::InRounds;
    /// One part in so many of a run's time, and of the memory's bytes, may be wrong where turns stand for
    /// others.
    std::int64_t promise = 1000;
    /// A layer's end moves, as what is fetched ahead and stored behind does: by at most one part in so many
    /// of a turn, which is how far shares of classes may be off.
    std::int64_t layers = 200;
};

constexpr TurnRule kInRounds{TurnsDiffer::InRounds, 1000, 200};
constexpr TurnRule kByChance{TurnsDiffer::ByChance, 500, 200};
constexpr TurnRule kRoughly{TurnsDiffer::ByChance, 100, 10};

/// How many of the turns, from the last one back, may stand for those that are left out; 0 if they may not.
/// In all of them every layer has the MACs that it has in the last, and a time that differs by at most twice
/// `jitter`, what one refresh takes at its begin and one at its end, and a part of a turn (`layers`): what
/// ends a layer may come before or behind what the next begins with, so that neighbours trade time.
///
/// InRounds: first, the most, at least two, of which
/// - every layer has the bytes that it has in the last;
/// - the times of whole turns differ by at most 1/2000 of their mean for each of the turns: the sum of those
/// left out, each
///   n of which are like these n, is then at most as much off;
/// - `jitter` is at most 1/1000 of all of them together: two short turns in a row may agree, and yet both
///   have a refresh more than most.
/// Of these the last ones, at least half, that tell most surely what a turn takes: the first ones may not
/// have settled.
///
/// ByChance: the most, at least four, whose times and whose bytes of the memory, taken for a sample, tell the
/// mean of all turns within what is promised in 19 of 20 cases (Student's t). A sample is looked at three
/// times at most while it grows (sample_suffices()), and each look could be deceived: by Pocock's rule
/// ("Group sequential methods in the design and analysis of clinical trials", Biometrika 64, 1977, table 1)
/// each is held to 0.0221 instead of 0.05. Which layer finds a line in a cache, or writes one back, need not
/// agree; all other bytes do.
std::size_t turns_that_agree(const DeviceResult& result, const TurnMarks& marks, Ticks jitter,
                             const TurnRule& rule = kInRounds);

/// Clocks until then in which the memory's buses carried something, all together; 0 where nothing is known of
/// them.
std::int64_t carrying(const Mark& mark);

/// Turns that are still being simulated, marked one by one, are looked at when there are four, six and eight
/// of them: whether they are such a sample of turns that differ by chance, as sample_wanted() has it.
bool sample_suffices(const TurnMarks& marks, const TurnRule& rule = kByChance);
/// So many of them would tell the mean if all differ by chance as these do, as far as times and the clocks
/// tell in which the memory's buses carried something.
std::size_t sample_wanted(const TurnMarks& marks, const TurnRule& rule = kByChance);

/// Of so many turns at most rounds are looked for.
constexpr std::size_t kLongestRound = 4;

/// Turns that may stand for those that are left out.
struct Agreement {
    std::size_t turns = 0;  ///< so many, from the last one back, whole rounds; 0 if none may
    std::size_t round = 1;  ///< after so many turns all goes as before
    /// By which they may be off together, where that is known otherwise than by how turns or rounds differ.
    std::optional<Ticks> off = {};
};

/// As turns_that_agree(). Where turns InRounds do not agree one by one, so do perhaps those that are two,
/// three or four apart: what one turn leaves behind makes the next another, which leaves behind what the
/// first met. Such rounds are then what has to agree, instead of turns. Of rounds of several lengths those
/// stand for the others that tell of the most turns, of equals the shortest. Where rounds do not agree
/// either, and it is known when the memory refreshes, a window of turns may (refresh_window(), `blocks`).
Agreement agreement(const DeviceResult& result, const TurnMarks& marks, Ticks jitter,
                    const TurnRule& rule = kInRounds, const Refreshes& refreshes = {},
                    std::size_t blocks = 1);

/// As above, of turns InRounds that are still being simulated and looked at again and again: as far as times
/// alone tell, and if at least half of them agree, of rounds at least three; of those of which a refresh is
/// more than a thousandth, eight.
Agreement agreement_by_time(const TurnMarks& marks, Ticks jitter);

/// By how much `times` turns may differ from what those that agreed say of them.
Ticks uncertainty(const TurnMarks& marks, const Agreement& agreed, std::size_t times,
                  const TurnRule& rule = kInRounds);

/// So many turns would have to differ as those between the marks do, alone or in rounds, to be taken; at
/// least as many as ever are.
std::size_t turns_wanted(const DeviceResult& result, const TurnMarks& marks, Ticks jitter,
                         const TurnRule& rule = kInRounds);

/// As above, as far as times alone tell.
std::size_t turns_wanted_by_time(const TurnMarks& marks, Ticks jitter);

/// InRounds: so many turns at least have to agree for what they do not show, a refresh of `jitter` more or
/// less.
std::size_t turns_wanted_unseen(const TurnMarks& marks, Ticks jitter);

}  // namespace systole
