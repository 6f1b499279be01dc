// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/memory/slow_channel_judge.h"

#include <algorithm>

namespace systole::test {

TableJudge::TableJudge(const DramSpec& spec)
    : banks_per_group_(spec.banks_per_group), rows_(static_cast<std::size_t>(kCommands)) {
    for (const ConstraintRow& row : find_constraint_table(spec.standard)->rows)
        for (const Command following : row.following)
            rows_[static_cast<std::size_t>(following)].push_back(
                {row, evaluate_latency(row.latency, spec.timing).value()});
}

/// A command of all banks meets each of them.
bool TableJudge::meet(Scope scope, const GivenCommand& a, const GivenCommand& b) const {
    if (scope == Scope::Channel) return true;
    if (a.pseudo_channel != b.pseudo_channel) return false;
    if (scope == Scope::PseudoChannel || !names_bank(a.command) || !names_bank(b.command)) return true;
    if (scope == Scope::Group) return a.bank / banks_per_group_ == b.bank / banks_per_group_;
    return a.bank == b.bank;
}

bool TableJudge::forbids(const GivenCommand& asked, std::size_t commands,
                         const std::function<bool(const ConstraintRow&)>& counts) const {
    for (const auto& [row, latency] : rows_[static_cast<std::size_t>(asked.command)]) {
        if (!counts(row)) continue;
        int seen = 0;
        for (std::size_t i = commands; i-- > 0;) {
            const GivenCommand& before = history_[i];
            if (before.clock.value() + latency <= asked.clock.value()) break;  // nor does any before it bind
            const auto end = row.preceding.end();
            if (std::find(row.preceding.begin(), end, before.command) == end) continue;
            if (!meet(row.scope, before, asked)) continue;
            if (++seen == row.window) return true;
        }
    }
    return false;
}

}  // namespace systole::test
