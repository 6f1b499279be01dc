// SPDX-License-Identifier: Apache-2.0
#include "models/memory/constraint_table.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "sim/base/check.h"

namespace systole {
namespace {

using enum Command;
using enum Scope;

// JESD235C. ACT takes two clocks on the row bus and its effects count from the second, hence +1 after it and
// -1 before it; rows and columns have buses of their own, which the pseudo-channels of a channel share.
ConstraintTable hbm2() {
    return {"HBM2",
            {"CL", "CWL", "RCDRD", "RCDWR", "RP", "RAS", "RC", "WR", "RTP", "CCD_S", "CCD_L", "RRD_S",
             "RRD_L", "FAW", "WTR_S", "WTR_L", "RTW", "RFC", "REFI"},
            {
                // the row bus: ACT two clocks, the others one
                {Channel, {Act}, {Act, Pre, PreAll, Refresh}, "2"},
                {Channel, {Pre, PreAll, Refresh}, {Act, Pre, PreAll, Refresh}, "1"},
                // the column bus
                {Channel, {Read, Write}, {Read, Write}, "1"},
                // the data bus
                {PseudoChannel, {Read}, {Read}, "CCD_S"},
                {Group, {Read}, {Read}, "CCD_L"},
                {PseudoChannel, {Write}, {Write}, "CCD_S"},
                {Group, {Write}, {Write}, "CCD_L"},
                {PseudoChannel, {Read}, {Write}, "RTW"},
                {PseudoChannel, {Write}, {Read}, "CWL + BL + WTR_S"},
                {Group, {Write}, {Read}, "CWL + BL + WTR_L"},
                // a bank's cycle
                {Bank, {Act}, {Read}, "RCDRD + 1"},
                {Bank, {Act}, {Write}, "RCDWR + 1"},
                {Bank, {Act}, {Pre}, "RAS + 1"},
                {Bank, {Act}, {Act}, "RC"},
                {Bank, {Read}, {Pre}, "RTP"},
                {Bank, {Write}, {Pre}, "CWL + BL + WR"},
                {Bank, {Pre}, {Act}, "RP - 1"},
                // activations share the charge pumps
                {PseudoChannel, {Act}, {Act}, "RRD_S"},
                {Group, {Act}, {Act}, "RRD_L"},
                {PseudoChannel, {Act}, {Act}, "FAW", 4},
                // all-bank refresh
                {PseudoChannel, {Act}, {PreAll}, "RAS + 1"},
                {PseudoChannel, {Read}, {PreAll}, "RTP"},
                {PseudoChannel, {Write}, {PreAll}, "CWL + BL + WR"},
                {PseudoChannel, {PreAll}, {Act}, "RP - 1"},
                {PseudoChannel, {Pre, PreAll}, {Refresh}, "RP"},
                {PseudoChannel, {Act}, {Refresh}, "RC + 1"},
                {PseudoChannel, {Refresh}, {Act}, "RFC - 1"},
                {PseudoChannel, {Refresh}, {Refresh}, "RFC"},
            }};
}

// JESD79-3F. One command bus, no bank groups.
ConstraintTable ddr3() {
    return {"DDR3",
            {"CL", "CWL", "RCD", "RP", "RAS", "RC", "WR", "RTP", "CCD", "RRD", "FAW", "WTR", "RTW", "RFC",
             "REFI"},
            {
                {Channel,
                 {Act, Pre, PreAll, Read, Write, Refresh},
                 {Act, Pre, PreAll, Read, Write, Refresh},
                 "1"},
                {PseudoChannel, {Read}, {Read}, "CCD"},
                {PseudoChannel, {Write}, {Write}, "CCD"},
                {PseudoChannel, {Read}, {Write}, "RTW"},
                {PseudoChannel, {Write}, {Read}, "CWL + BL + WTR"},
                {Bank, {Act}, {Read, Write}, "RCD"},
                {Bank, {Act}, {Pre}, "RAS"},
                {Bank, {Act}, {Act}, "RC"},
                {Bank, {Read}, {Pre}, "RTP"},
                {Bank, {Write}, {Pre}, "CWL + BL + WR"},
                {Bank, {Pre}, {Act}, "RP"},
                {PseudoChannel, {Act}, {Act}, "RRD"},
                {PseudoChannel, {Act}, {Act}, "FAW", 4},
                {PseudoChannel, {Act}, {PreAll}, "RAS"},
                {PseudoChannel, {Read}, {PreAll}, "RTP"},
                {PseudoChannel, {Write}, {PreAll}, "CWL + BL + WR"},
                {PseudoChannel, {PreAll}, {Act}, "RP"},
                {PseudoChannel, {Pre, PreAll}, {Refresh}, "RP"},
                {PseudoChannel, {Act}, {Refresh}, "RC"},
                {PseudoChannel, {Refresh}, {Act, Refresh}, "RFC"},
            }};
}

bool contains(const std::vector<Command>& commands, Command command) {
    return std::find(commands.begin(), commands.end(), command) != commands.end();
}

std::int64_t term_value(std::string_view term, const TimingParameters& timing) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(term.data(), term.data() + term.size(), number);
    if (error == std::errc() && end == term.data() + term.size()) return number;
    const auto found = timing.find(std::string(term));
    SYSTOLE_CHECK(found != timing.end(), "the constraint table names {}, the configuration does not", term);
    return found->second;
}

}  // namespace

std::string_view to_string(Command command) {
    static constexpr std::array<std::string_view, kCommands> kNames{"ACT", "PRE", "PREA", "RD",   "WR",
                                                                    "RDA", "WRA", "REF",  "REFSB"};
    return kNames[static_cast<std::size_t>(command)];
}

std::span<const ConstraintTable> constraint_tables() {
    static const std::array<ConstraintTable, 2> tables{hbm2(), ddr3()};
    return tables;
}

const ConstraintTable* find_constraint_table(std::string_view standard) {
    for (const ConstraintTable& table : constraint_tables())
        if (table.standard == standard) return &table;
    return nullptr;
}

Cycles evaluate_latency(std::string_view expression, const TimingParameters& timing) {
    std::int64_t sum = 0, sign = 1;
    for (std::size_t at = 0; at < expression.size();) {
        const std::size_t end = std::min(expression.find(' ', at), expression.size());
        const std::string_view word = expression.substr(at, end - at);
        if (word == "+" || word == "-")
            sign = word == "+" ? 1 : -1;
        else
            sum += sign * term_value(word, timing);
        at = end + 1;
    }
    return Cycles(sum);
}

Cycles min_distance(const ConstraintTable& table, const TimingParameters& timing, Scope scope,
                    Command preceding, Command following) {
    Cycles least;
    for (const ConstraintRow& row : table.rows)
        if (row.scope >= scope && row.window == 1 && contains(row.preceding, preceding) &&
            contains(row.following, following))
            least = std::max(least, evaluate_latency(row.latency, timing));
    return least;
}

}  // namespace systole
