// SPDX-License-Identifier: Apache-2.0
// The command buses of a channel, which its pseudo-channels share: the rows of scope Channel of the
// constraint table. It has no clock: time is an argument.
#pragma once

#include <array>

#include "models/memory/constraint_table.h"
#include "models/memory/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

class CommandBus {
public:
    explicit CommandBus(const DramSpec& spec);

    /// The first clock from which the bus of `command` is free for it.
    Cycles free(Command command) const { return free_[static_cast<std::size_t>(command)]; }

    /// `command` takes its bus from `clock` on; clocks never decrease for commands of one bus.
    void take(Command command, Cycles clock) {
        const auto& taken = taken_[static_cast<std::size_t>(command)];
        for (std::size_t following = 0; following < free_.size(); ++following)
            free_[following] = std::max(free_[following], clock + taken[following]);
    }

    /// For how many clocks `preceding` keeps `following` away; zero if they have buses of their own.
    Cycles clocks(Command preceding, Command following) const {
        return taken_[static_cast<std::size_t>(preceding)][static_cast<std::size_t>(following)];
    }
    /// Row and column commands share one bus.
    bool one_for_all() const { return clocks(Command::Read, Command::Act) > Cycles(); }

private:
    using PerCommand = std::array<Cycles, kCommands>;
    PerCommand free_{};
    std::array<PerCommand, kCommands> taken_{};
};

}  // namespace systole
