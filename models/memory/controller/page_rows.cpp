// SPDX-License-Identifier: Apache-2.0
#include "models/memory/controller/page_rows.h"

#include <algorithm>
#include <cstddef>

namespace systole {
namespace {

/// A run that was seen and whose row is not open yet.
struct Waiting {
    std::int16_t lane;
    Cycles since;
    bool close_first;
    Command command() const { return close_first ? Command::Pre : Command::Act; }
};

/// The first command for any of them; of several at one clock the oldest run's.
PageRows::Step first_step(const std::vector<Waiting>& waiting, const BankTiming& timing,
                          const CommandBus& bus, const std::vector<int>& banks) {
    PageRows::Step first{Command::Act, -1, Cycles::max()};
    for (const Waiting& run : waiting) {
        const Command command = run.command();
        const Cycles when = std::max({run.since, bus.free(command), timing.anywhere(command),
                                      timing.local(command, banks[static_cast<std::size_t>(run.lane)])});
        if (when < first.after) first = {command, run.lane, when};
    }
    return first;
}

}  // namespace

PageRows rows_of_page(BankTiming timing, CommandBus bus, const std::vector<int>& banks, bool open,
                      Cycles cadence, Command column) {
    PageRows rows;
    const auto between = [at_rest = timing, bank = banks.front()](Command first, Command then) {
        BankTiming own = at_rest;
        own.issue_in_bank(first, bank, Cycles(0));
        return own.of_bank(then, bank);
    };
    rows.after_column = between(column, Command::Pre);
    std::vector<Waiting> waiting;
    for (std::size_t seen = 0; seen < banks.size() || !waiting.empty();) {
        const PageRows::Step step = first_step(waiting, timing, bus, banks);
        const Cycles sight = cadence * static_cast<std::int64_t>(seen);
        if (seen < banks.size() && sight <= step.after) {
            waiting.push_back({static_cast<std::int16_t>(seen++), sight, open});
            continue;
        }
        const int bank = banks[static_cast<std::size_t>(step.lane)];
        timing.issue(step.command, bank, step.after);
        bus.take(step.command, step.after);
        rows.steps.push_back(step);
        const auto run = std::ranges::find(waiting, step.lane, &Waiting::lane);
        if (run->close_first) {
            run->close_first = false;
            continue;
        }
        waiting.erase(run);
        rows.in_time = std::max(rows.in_time, timing.local(column, bank) - cadence * step.lane);
    }
    rows.settled = std::max(timing.windows_over(), cadence * static_cast<std::int64_t>(banks.size()));
    for (const Command command : {Command::Act, Command::Pre, Command::RefreshBank}) {
        rows.settled = std::max({rows.settled, bus.free(command), timing.anywhere(command)});
        for (const int bank : banks) {
            rows.settled = std::max(rows.settled, timing.group(command, bank));
            rows.banks_settled = std::max(rows.banks_settled, timing.of_bank(command, bank));
        }
    }
    // By then nobody asks any more what rows before them waited for: their columns are given.
    rows.settled += between(Command::Pre, Command::Act) + between(Command::Act, column);
    return rows;
}

}  // namespace systole
