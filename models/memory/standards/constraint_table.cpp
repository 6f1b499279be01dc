// SPDX-License-Identifier: Apache-2.0
#include "models/memory/standards/constraint_table.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "models/memory/standards/standards.h"
#include "sim/base/check.h"

namespace systole {
namespace {

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

bool ConstraintTable::refreshes_banks() const {
    return std::find(parameters.begin(), parameters.end(), "REFISB") != parameters.end();
}

std::span<const ConstraintTable> constraint_tables() {
    static const std::array<ConstraintTable, 8> tables{
        standards::hbm2(), standards::hbm2e(), standards::hbm3(),  standards::hbm3e(),
        standards::ddr3(), standards::ddr4(),  standards::gddr6(), standards::lpddr5()};
    return tables;
}

const ConstraintTable* find_constraint_table(std::string_view standard) {
    for (const ConstraintTable& table : constraint_tables())
        if (table.standard == standard) return &table;
    return nullptr;
}

const ConstraintTable& constraint_table_of(std::string_view standard) {
    const ConstraintTable* const table = find_constraint_table(standard);
    SYSTOLE_CHECK(table, "no constraint table for {}", standard);
    return *table;
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
