// SPDX-License-Identifier: Apache-2.0
// Holds every command of one DRAM channel against its constraint table and the states of its banks. It looks
// back from each command to those before it, where BankTiming looks ahead from each: the two share the table,
// not a way to read it. What it finds is a bug of the controller.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/memory/standards/constraint_table.h"
#include "models/memory/standards/dram_command.h"
#include "models/memory/standards/dram_spec.h"

namespace systole {

class CommandChecker {
public:
    /// For one channel of `spec`, from time zero on.
    explicit CommandChecker(const DramSpec& spec);

    /// What is wrong with `given` as the next command, with the row of the table that it breaks and the
    /// command that it follows too closely; "" if nothing is.
    std::string fault(const GivenCommand& given) const;

    /// Takes the next command of the channel, in the order of time; a wrong one ends the program.
    void see(const GivenCommand& given);

    /// see() as a DramChannel::Listener. The checker must outlive its use.
    std::function<void(const GivenCommand&)> listener() {
        return [this](const GivenCommand& given) { see(given); };
    }

    std::int64_t commands() const { return commands_; }

private:
    /// After `preceding` in the same node, a command must wait.
    struct Rule {
        Command preceding;
        Scope scope;
        std::int64_t latency;
        const ConstraintRow* row;
    };
    /// A row that counts several commands back: the last ones of each node.
    struct Window {
        Scope scope;
        std::int64_t latency;
        const ConstraintRow* row;
        struct Ring {
            std::vector<GivenCommand> last;
            std::size_t oldest = 0;
        };
        std::vector<Ring> rings;
    };
    struct Broken {
        const ConstraintRow* row;
        std::int64_t latency;
        const GivenCommand* before;
    };
    struct Bus {                         // a pseudo-channel
        std::vector<std::int64_t> rows;  // open row of each bank, or kClosed
        std::int64_t open = 0;           // banks
        std::int64_t data_until = 0;     // so long the data bus is taken
        std::int64_t refreshes = 0;      // given
        std::int64_t refresh_due = 0;    // the next
    };
    static constexpr std::int64_t kClosed = -1;

    void fold(const ConstraintRow& row, const TimingParameters& timing);
    std::int64_t longest_blocking() const;
    std::size_t node(Scope scope, const GivenCommand& given) const;
    GivenCommand& last(Command command, std::size_t node) {
        return last_[node * kCommands + static_cast<std::size_t>(command)];
    }
    const GivenCommand& last(Command command, std::size_t node) const {
        return last_[node * kCommands + static_cast<std::size_t>(command)];
    }

    std::string_view order_fault(const GivenCommand& given) const;
    std::string_view bank_fault(const GivenCommand& given) const;
    std::string_view refresh_fault(const GivenCommand& given) const;
    std::string_view state_fault(const GivenCommand& given) const;
    std::optional<Broken> broken_row(const GivenCommand& given) const;
    void record(const GivenCommand& given);
    void change_state(const GivenCommand& given);

    const int banks_, banks_per_group_;
    const std::size_t nodes_per_bus_;  // its banks, its groups, itself
    const std::int64_t rows_, burst_;
    const std::array<std::int64_t, 2> latency_;  // of reads, of writes
    const RefreshPolicy refresh_;
    std::int64_t refresh_interval_ = 0, refresh_slack_ = 0;

    std::array<std::vector<Rule>, kCommands> rules_;  // by the command that follows
    std::vector<Window> windows_;
    std::vector<GivenCommand> last_;  // by node and command
    std::vector<Bus> buses_;
    std::int64_t clock_ = 0, commands_ = 0;
};

}  // namespace systole
