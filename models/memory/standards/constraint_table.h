// SPDX-License-Identifier: Apache-2.0
// The timing rules of a DRAM standard as a table, and a reader that folds it into integers. A row says: after
// one of `preceding`, one of `following` in the same bank, bank group or channel must wait `latency`, a sum
// of JEDEC parameter names. One table per standard is the whole difference between standards.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/memory/standards/dram_command.h"
#include "models/memory/standards/dram_spec.h"
#include "sim/base/units.h"

namespace systole {

/// Where two commands must meet for a row to bind them.
enum class Scope : std::uint8_t { Bank, Group, PseudoChannel, Channel };
inline constexpr int kScopes = 4;

struct ConstraintRow {
    Scope scope;
    std::vector<Command> preceding;
    std::vector<Command> following;
    std::string_view latency;  ///< "CWL + BL + WTR_S": names and whole numbers joined by + and -
    int window = 1;            ///< counts from the window-th last preceding command (FAW: 4)
};

/// The clock at which a command is given is the first of the clocks it takes on its bus.
struct ConstraintTable {
    std::string_view standard;
    std::string_view source;  ///< the document that the rows are from
    int transfers_per_clock;  ///< on one data pin, a command clock (CK): sets BL and the bandwidth
    int pseudo_channels;      ///< at most so many data buses behind the command buses
    std::vector<std::string_view> parameters;  ///< what a configuration must give, in reading order
    std::vector<ConstraintRow> rows;

    /// Refreshes that may be owed; all these documents allow eight.
    static constexpr int kPostponedRefreshes = 8;
    /// It has a command that refreshes one bank.
    bool refreshes_banks() const;
};

/// The tables of all standards we know.
std::span<const ConstraintTable> constraint_tables();
/// The table of `standard`, or null.
const ConstraintTable* find_constraint_table(std::string_view standard);
/// The table of a standard that a configuration was read for: there is one.
const ConstraintTable& constraint_table_of(std::string_view standard);

/// The value of a latency expression; every name must be in `timing`.
Cycles evaluate_latency(std::string_view expression, const TimingParameters& timing);

/// The least clock distance a table asks between two commands that meet in `scope` only (rows of one-command
/// windows; wider scopes count too); zero where it asks none.
Cycles min_distance(const ConstraintTable& table, const TimingParameters& timing, Scope scope,
                    Command preceding, Command following);

}  // namespace systole
