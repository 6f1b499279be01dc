// SPDX-License-Identifier: Apache-2.0
// How the rows of a whole page of a stream are opened where nothing given before holds up any of the
// commands: always by the same ones, at the same clocks after the page comes in sight.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/controller/bank_timing.h"
#include "models/memory/controller/command_bus.h"
#include "models/memory/standards/dram_command.h"
#include "sim/base/units.h"

namespace systole {

struct PageRows {
    struct Step {
        Command command = Command::Act;
        std::int16_t lane = 0;  ///< the place in the rotation of the run whose row it is for
        Cycles after;           ///< the page's first run comes in sight
    };
    std::vector<Step> steps;
    Cycles settled;        ///< so long after that they hold up rows of no other banks, …
    Cycles banks_settled;  ///< … so long after those of their own neither,
    Cycles in_time;        ///< and so long after the page's columns may begin
    Cycles after_column;   ///< so long after a column its bank can be closed
};

/// Of runs in `banks`, in the order of the rotation, one of which comes in sight each `cadence`; banks are
/// `open`, with other rows, or all closed. `timing` and `bus`: as if nothing had been given yet.
PageRows rows_of_page(BankTiming timing, CommandBus bus, const std::vector<int>& banks, bool open,
                      Cycles cadence, Command column);

}  // namespace systole
