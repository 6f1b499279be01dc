// SPDX-License-Identifier: Apache-2.0
#include "models/memory/command_bus.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole {

CommandBus::CommandBus(const DramSpec& spec) {
    const ConstraintTable* table = find_constraint_table(spec.standard);
    SYSTOLE_CHECK(table, "no constraint table for {}", spec.standard);
    for (const ConstraintRow& row : table->rows) {
        if (row.scope != Scope::Channel) continue;
        const Cycles latency = evaluate_latency(row.latency, spec.timing);
        for (const Command preceding : row.preceding) {
            for (const Command following : row.following) {
                Cycles& taken =
                    taken_[static_cast<std::size_t>(preceding)][static_cast<std::size_t>(following)];
                taken = std::max(taken, latency);
            }
        }
    }
}

}  // namespace systole
