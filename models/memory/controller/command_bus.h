// SPDX-License-Identifier: Apache-2.0
// The command buses of a channel, which its pseudo-channels share: the rows of scope Channel of the
// constraint table. It has no clock: time is an argument.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/memory/controller/choice.h"
#include "models/memory/standards/constraint_table.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

class CommandBus {
public:
    explicit CommandBus(const DramSpec& spec);

    /// The first clock from which the bus of `command` is free for it.
    Cycles free(Command command) const { return free_[kind_[index(command)]]; }

    /// `command` takes its bus from `clock` on; clocks never decrease for commands of one bus.
    void take(Command command, Cycles clock) {
        const PerKind& taken = taken_[index(command)];
        for (std::size_t kind = 0; kind < kKinds; ++kind)
            free_[kind] = Cycles(later(free_[kind].value(), (clock + taken[kind]).value()));
    }

    /// Whether from `now` on it is free for the same commands.
    bool same_from(const CommandBus& other, Cycles now) const {
        return std::ranges::equal(free_, other.free_,
                                  [now](Cycles a, Cycles b) { return std::max(a, now) == std::max(b, now); });
    }

    /// For how many clocks `preceding` keeps `following` away; zero if they have buses of their own.
    Cycles clocks(Command preceding, Command following) const {
        return taken_[index(preceding)][kind_[index(following)]];
    }
    /// Row and column commands share one bus.
    bool one_for_all() const { return clocks(Command::Read, Command::Act) > Cycles(); }

private:
    static constexpr std::size_t kKinds = 2;
    using PerKind = std::array<Cycles, kKinds>;
    static std::size_t index(Command command) { return static_cast<std::size_t>(command); }

    // Commands that all others keep away alike are of one kind: on every standard those of one bus.
    std::array<std::uint8_t, kCommands> kind_{};
    PerKind free_{};
    std::array<PerKind, kCommands> taken_{};  // by command and the kind that follows
};

}  // namespace systole
