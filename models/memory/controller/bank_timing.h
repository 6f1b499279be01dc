// SPDX-License-Identifier: Apache-2.0
// When the banks of a pseudo-channel may take a command. The rows of the constraint table that bind inside a
// pseudo-channel are folded into flat arrays at construction; every command given raises the earliest times
// of those it delays. It has no clock: time is an argument.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "models/memory/standards/constraint_table.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

class BankTiming {
public:
    static constexpr std::int64_t kLongestLatency = 1 << 23;  // of a row of the table, in clocks

    explicit BankTiming(const DramSpec& spec);

    /// The first clock at which the table allows `command` on `bank` (any bank for PreAll and Refresh), buses
    /// left aside. Whether the bank is in the right state is the caller's business.
    Cycles earliest(Command command, int bank) const {
        if (!names_bank(command)) return earliest_of_all(command);
        return std::max(anywhere(command), local(command, bank));
    }
    /// A bound on earliest() over all banks: rows of scope PseudoChannel …
    Cycles anywhere(Command command) const { return Cycles(ready_[row_of(command)]); }
    /// … and the part of earliest() that depends on the bank: rows of scope Group and Bank.
    Cycles local(Command command, int bank) const {
        return std::max(group(command, bank), of_bank(command, bank));
    }
    /// local() of one command, for loops over banks.
    struct Locals {
        const std::int64_t *groups, *banks;
        int bank_bits;
        std::int64_t ready(unsigned bank) const {
            const std::int64_t group = groups[bank >> bank_bits], own = banks[bank];
            return group > own ? group : own;  // of values: of places std::max() makes a branch
        }
    };
    Locals locals(Command command) const {
        const std::int64_t* row = ready_.data() + row_of(command);
        return {row + 1, row + 1 + groups_, bank_bits_};
    }
    /// The banks of a group follow each other. Within one, columns delay columns and ACTs delay ACTs alone.
    int banks_of_group() const { return 1 << bank_bits_; }
    int first_of_group(int bank) const { return bank >> bank_bits_ << bank_bits_; }
    /// The rows of scope Group, and of scope Bank, alone.
    Cycles group(Command command, int bank) const {
        return Cycles(ready_[row_of(command) + 1 + group_of(bank)]);
    }
    Cycles of_bank(Command command, int bank) const {
        return Cycles(ready_[row_of(command) + 1 + groups_ + static_cast<std::size_t>(bank)]);
    }

    /// As earliest() of a column command, as far as columns of the opposite direction hold it back.
    Cycles after_opposite(Command column, int bank) const {
        const std::size_t row = index(is_read(column) ? Command::ReadAp : Command::WriteAp) * nodes();
        return Cycles(std::max({ready_[row], ready_[row + 1 + group_of(bank)],
                                ready_[row + 1 + groups_ + static_cast<std::size_t>(bank)]}));
    }

    /// No row that counts several commands back holds anything up from here on, until others are given.
    Cycles windows_over() const;

    /// Whether all commands from `now` on can be given at the same clocks, whatever was given before.
    bool same_from(const BankTiming& other, Cycles now) const;

    /// `command` is given to `bank` at `clock`; clocks never decrease for commands of one kind.
    void issue(Command command, int bank, Cycles clock);
    /// As issue(), for the bank and commands of all banks alone: enough as long as nobody asks about others
    /// before a later command of the kind in the same group is issued, or those it holds up no more. A column
    /// keeps rows away within its bank only.
    void issue_in_bank(Command command, int bank, Cycles clock) {
        const std::vector<Effect>& effects = effects_[index(command)];
        for (std::size_t i = 0; i < in_bank_[index(command)]; ++i)
            raise(effects[i].at + static_cast<std::size_t>(bank), clock.value() + effects[i].latency);
        last_[index(command)] = std::max(last_[index(command)], clock.value());
    }

private:
    /// A row's effect on one following command: `at` is the place of its first node in ready_.
    struct Effect {
        std::uint32_t at, scope;
        std::int64_t latency;
    };
    /// A row that keeps a command of all banks away; such commands are rare, so nothing is kept for them.
    struct Delay {
        Command preceding, following;
        std::int64_t latency;
    };
    /// A row that counts more than one preceding command back: one ring of times for each node of its scope.
    struct Window {
        Scope scope;
        std::array<bool, kCommands> preceding;
        std::vector<std::size_t> at;  // of each following command, its first node in ready_
        std::int64_t latency;
        struct Ring {
            std::vector<std::int64_t> times;
            std::size_t oldest = 0;
        };
        std::vector<Ring> rings;
    };

    /// A column with auto-precharge must wait for what one without must.
    static Command reduced(Command following);
    std::size_t row_of(Command command) const { return index(reduced(command)) * nodes(); }
    static std::size_t index(Command command) { return static_cast<std::size_t>(command); }
    static std::size_t index(Scope scope) { return static_cast<std::size_t>(scope); }
    std::size_t nodes() const { return 1 + groups_ + banks_; }
    std::size_t group_of(int bank) const { return static_cast<std::size_t>(bank) >> bank_bits_; }
    std::size_t first_node(Scope scope, std::size_t row) const;
    Cycles earliest_of_all(Command command) const;
    void fold(Command preceding, Scope scope, std::size_t row, std::int64_t latency);
    std::size_t node(Scope scope, int bank) const;
    void fold(const ConstraintRow& row, std::int64_t latency);
    void fold_window(const ConstraintRow& row, std::int64_t latency);
    void slide(Window& window, int bank, std::int64_t clock);
    void raise(std::size_t at, std::int64_t clock) { ready_[at] = std::max(ready_[at], clock); }

    int bank_bits_;  // banks are numbered group-major: bank = group << bank_bits_ | bank in group
    std::size_t groups_, banks_;
    // Per command: of the pseudo-channel, of each group, of each bank. The places of ReadAp and WriteAp,
    // which need none of their own, hold what after_opposite() answers.
    std::vector<std::int64_t> ready_;
    std::array<std::vector<Effect>, kCommands> effects_;  // of each preceding command; first those …
    std::array<std::size_t, kCommands> in_bank_{};        // … of scope Bank, so many
    std::vector<Delay> delays_;
    std::array<std::int64_t, kCommands> last_{};  // clock of the last of each command; long ago if none
    std::vector<Window> windows_;
};

inline Command BankTiming::reduced(Command following) {
    if (following == Command::ReadAp) return Command::Read;
    return following == Command::WriteAp ? Command::Write : following;
}

// Inline, as most callers know the command.
inline void BankTiming::issue(Command command, int bank, Cycles clock) {
    const std::int64_t at = clock.value();
    std::array<std::size_t, 3> nodes{};  // by scope
    nodes[index(Scope::Bank)] = static_cast<std::size_t>(bank);
    nodes[index(Scope::Group)] = group_of(bank);
    for (const Effect& effect : effects_[index(command)])
        raise(effect.at + nodes[effect.scope], at + effect.latency);
    last_[index(command)] = std::max(last_[index(command)], at);
    if (is_column(command)) return;  // no standard counts columns in windows
    for (Window& window : windows_)
        if (window.preceding[index(command)]) slide(window, bank, at);
}

}  // namespace systole
