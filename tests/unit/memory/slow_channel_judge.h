// SPDX-License-Identifier: Apache-2.0
// Whether the constraint table of a standard allows a command, judged from the list of all commands of a
// channel before it. It keeps no other state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/memory/standards/constraint_table.h"
#include "models/memory/standards/dram_command.h"
#include "models/memory/standards/dram_spec.h"

namespace systole::test {

class TableJudge {
public:
    explicit TableJudge(const DramSpec& spec);

    bool allows(const GivenCommand& asked) const {
        return !forbids(asked, history_.size(), [](const ConstraintRow&) { return true; });
    }

    /// Some row for which `counts` holds forbids `asked` in view of the first `commands` of the history. They
    /// may lie after the clock asked about: then they forbid as well.
    bool forbids(const GivenCommand& asked, std::size_t commands,
                 const std::function<bool(const ConstraintRow&)>& counts) const;

    void record(const GivenCommand& given) { history_.push_back(given); }
    const std::vector<GivenCommand>& history() const { return history_; }

private:
    bool meet(Scope scope, const GivenCommand& a, const GivenCommand& b) const;

    struct Row {
        ConstraintRow row;
        std::int64_t latency;
    };
    int banks_per_group_;
    std::vector<std::vector<Row>> rows_;  // by the command that follows
    std::vector<GivenCommand> history_;
};

}  // namespace systole::test
