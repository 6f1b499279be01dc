// SPDX-License-Identifier: Apache-2.0
#include "models/memory/controller/command_bus.h"

#include "sim/base/check.h"

namespace systole {

CommandBus::CommandBus(const DramSpec& spec) {
    std::array<std::array<Cycles, kCommands>, kCommands> taken{};  // by following and preceding command
    for (const ConstraintRow& row : constraint_table_of(spec.standard).rows) {
        if (row.scope != Scope::Channel) continue;
        const Cycles latency = evaluate_latency(row.latency, spec.timing);
        for (const Command preceding : row.preceding) {
            for (const Command following : row.following) {
                Cycles& longest = taken[index(following)][index(preceding)];
                longest = std::max(longest, latency);
            }
        }
    }
    std::size_t kinds = 0;
    for (std::size_t following = 0; following < taken.size(); ++following) {
        const auto* const same = std::find(taken.begin(), taken.begin() + following, taken[following]);
        const auto alike = static_cast<std::size_t>(same - taken.begin());
        kind_[following] = alike < following ? kind_[alike] : static_cast<std::uint8_t>(kinds++);
        SYSTOLE_CHECK(kinds <= kKinds, "{} has more than {} command buses", spec.standard, kKinds);
        for (std::size_t preceding = 0; preceding < taken.size(); ++preceding)
            taken_[preceding][kind_[following]] = taken[following][preceding];
    }
}

}  // namespace systole
