// SPDX-License-Identifier: Apache-2.0
// Turns of a block that meet as many refreshes of the memory as the same time of any turns does. Short turns
// differ by a refresh more or less, in an order that comes round late or never; but from one place between
// two refreshes to the same place some periods later, whole turns tell what all take.
#pragma once

#include <cstddef>

#include "sim/account/repeated_turn.h"
#include "sim/base/units.h"

namespace systole {

/// When a memory refreshes all of its banks: at `first`, and every so often from then on, for `takes` each
/// time. Of others `every` is 0.
struct Refreshes {
    Ticks takes, every, first;
};

/// So many turns, from the last marked one back; 0 if none are known.
struct RefreshWindow {
    std::size_t turns = 0;
    Ticks off;  ///< by which all of them together may differ from what as many others take
};

/// Of at least six turns those of which a turn's time is known best, if it is to a 4000th; where so many
/// `blocks` have such turns, of each to the root of their number times that, for they are independent. They
/// begin and end at nearly the same place between refreshes, outside what one may delay, so that how many
/// they meet is certain; and those between begin at places all over a period, for where in a turn a refresh
/// falls may matter. What a refresh costs, from nothing to twice what it takes, is fitted to pieces of them
/// between marks at such places, together with what a turn takes besides; by what pieces differ then, and by
/// the distance of those two places, they may be off.
RefreshWindow refresh_window(const TurnMarks& marks, const Refreshes& refreshes, std::size_t blocks = 1);

}  // namespace systole
