// SPDX-License-Identifier: Apache-2.0
// Turns of blocks that are simulated until they tell enough of those behind them: of each block so many as
// agree, found while the run goes on.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/account/repeated_turn.h"
#include "sim/base/units.h"
#include "sim/device/equal_turns.h"

namespace systole {

/// What is known of turns before they run.
struct GrowingRules {
    std::size_t ahead = 0;  ///< turns mostly begin so many ahead of the one that ends
    Ticks jitter;           ///< by which a turn may differ for no other reason than refresh
    Refreshes refreshes;    ///< when these come
    bool few_agree = true;  ///< the first five may agree, so that they get a run by themselves
};

class GrowingTurns {
public:
    /// `all` must outlive it. At first few turns are left, and more before the last ones begin.
    GrowingTurns(const EqualTurns& all, const GrowingRules& rules);

    const TurnsLeft& left() const { return left_; }

    /// So many marks are met, and so many turns of each block have begun: with how many the run goes on, if
    /// not as it is. Those of the block under way get no more if they tell enough. It is looked at when it
    /// has as many marked turns as its last look asked for, six at first, and more at each; by refreshes,
    /// from six on, at each.
    std::optional<TurnsLeft> look(const std::vector<Mark>& met, const std::vector<std::size_t>& begun);

private:
    /// Of a block.
    struct Look {
        std::size_t next = 0;  ///< when so many turns are marked
        bool over = false;     ///< it has the turns that it gets
    };
    bool enough(const TurnMarks& marks, const Agreement& agreed, std::size_t block, std::size_t turns) const;
    /// Whether those marked tell enough, by time where a look is due, and by refreshes.
    bool tells(const TurnMarks& marks, std::size_t block, std::size_t turns);
    std::size_t more(std::size_t block, std::size_t marks, std::size_t begun) const;

    const EqualTurns& all_;
    const GrowingRules rules_;
    std::size_t worth_it_ = 0;  ///< blocks of which turns may be left out
    TurnsLeft left_;
    std::vector<Look> looks_;
};

}  // namespace systole
