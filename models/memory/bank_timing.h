// SPDX-License-Identifier: Apache-2.0
// When a channel's banks may take a command. The constraint table is folded into arrays at construction;
// every command given raises the earliest times of those it delays. It has no clock: time is an argument.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "models/memory/constraint_table.h"
#include "models/memory/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

class BankTiming {
public:
    explicit BankTiming(const DramSpec& spec);

    /// The first clock at which the table allows `command` on `bank` (any bank for PreAll and Refresh).
    /// Whether the bank is in the right state is the caller's business.
    Cycles earliest(Command command, int bank) const {
        const auto c = static_cast<std::size_t>(command);
        return std::max(channel_[c],
                        std::max(groups_[group_of(bank)][c], banks_[static_cast<std::size_t>(bank)][c]));
    }

    /// A bound on earliest() over all banks.
    Cycles earliest_anywhere(Command command) const { return channel_[static_cast<std::size_t>(command)]; }

    /// `command` is given to `bank` at `clock`; clocks never decrease for commands of one kind.
    void issue(Command command, int bank, Cycles clock);

private:
    using Times = std::array<Cycles, kCommands>;
    struct Effect {
        Scope scope;
        Command following;
        Cycles latency;
    };
    /// A row that counts more than one preceding command back: one ring of times for each node of its scope.
    struct Window {
        ConstraintRow row;
        Cycles latency;
        struct Ring {
            std::vector<Cycles> times;
            std::size_t oldest = 0;
        };
        std::vector<Ring> rings;
    };

    std::size_t group_of(int bank) const { return static_cast<std::size_t>(bank) >> bank_bits_; }
    Times& node(Scope scope, int bank);
    void fold(const ConstraintRow& row, Cycles latency);
    void slide(Window& window, Command command, int bank, Cycles clock);

    int bank_bits_;  // banks are numbered group-major: bank = group << bank_bits_ | bank in group
    Times channel_{};
    std::vector<Times> groups_, banks_;
    std::array<std::vector<Effect>, kCommands> effects_;
    std::vector<Window> windows_;
};

}  // namespace systole
