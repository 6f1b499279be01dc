// SPDX-License-Identifier: Apache-2.0
// A run in which some blocks have lost turns: whether those that ran may stand for the others, and the result
// of all made of them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/account/invariants.h"
#include "sim/account/repeated_turn.h"
#include "sim/account/run_result.h"
#include "sim/account/turn_agreement.h"
#include "sim/base/units.h"
#include "sim/device/equal_turns.h"

namespace systole {

/// A run of a shorter network with what is needed to make it longer again.
struct MarkedRun {
    CheckedResult checked;
    std::vector<Mark> marks;   ///< one for each that was asked for
    Ticks jitter;              ///< by which a layer's time may differ for no other reason than refresh
    Ticks longest;             ///< time that can be accounted for
    Refreshes refreshes = {};  ///< whose times `jitter` is
    bool alike = true;         ///< turns of it may stand for others, if they agree
};

/// What such a run tells of each block.
struct Attempt {
    std::vector<std::size_t> turns;  ///< that are left
    MarkedRun run;
    std::vector<TurnMarks> marks;   ///< none of a block that has lost none
    std::vector<Agreement> agreed;  ///< of the marked turns
};

/// Judges attempts by one rule. `all` must outlive it.
class AttemptJudge {
public:
    AttemptJudge(const EqualTurns& all, const TurnRule& rule) : all_(all), rule_(rule) {}

    /// Some turns of some block can be left out.
    bool worth_it() const;
    /// The block, if it is the only one, of which turns are left out.
    std::optional<std::size_t> only_one() const;

    Attempt judged(const TurnsLeft& left, MarkedRun run) const;
    /// One that was judged by another rule.
    Attempt judged_anew(Attempt attempt) const;

    /// Nothing that turns tell could make a run known as well as is promised if it is so short.
    bool long_enough(const Attempt& attempt) const;
    bool agree(const Attempt& attempt) const;
    /// The result made as long as that of all turns. Nothing if the last ones of a round that is cut off
    /// would be faster than the device. Throws UserError for what is too long to be accounted for.
    std::optional<DeviceResult> lengthen(Attempt& attempt) const;

private:
    bool borne_out(const Attempt& attempt, std::size_t block) const;
    std::size_t left_out(const Attempt& attempt, std::size_t block) const;
    Ticks time_of_all(const Attempt& attempt) const;
    Ticks doubt_of_all_ends(const Attempt& attempt) const;
    Ticks doubt_of_all(const Attempt& attempt) const;
    bool sure_enough(const Attempt& attempt) const;
    std::size_t blocks_worth_it() const;

    const EqualTurns& all_;
    const TurnRule rule_;
};

}  // namespace systole
