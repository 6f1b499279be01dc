// SPDX-License-Identifier: Apache-2.0
// The obviously right twin of PseudoChannel: it walks clock by clock over single bursts and asks the
// constraint table about every command by looking at all recent commands. Shares with the code under test
// only the table.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "models/memory/constraint_table.h"
#include "models/memory/dram_spec.h"
#include "models/memory/pseudo_channel.h"

namespace systole::test {

struct Arrival {
    std::int64_t clock, id, first, count;
    Direction direction;
};

struct GivenCommand {
    Command command;
    int bank;
    std::int64_t clock;
    bool operator==(const GivenCommand&) const = default;
};

/// Whether a command breaks a row of the table, judged from the list of all commands before it.
class TableJudge {
public:
    explicit TableJudge(const DramSpec& spec);
    bool allows(Command command, int bank, std::int64_t clock) const;
    void record(const GivenCommand& given) { history_.push_back(given); }

private:
    bool same_node(Scope scope, int a, int b) const;

    struct Row {
        ConstraintRow row;
        std::int64_t latency;
    };
    int banks_per_group_;
    std::int64_t horizon_ = 0;  // no row looks further back
    std::vector<Row> rows_;
    std::vector<GivenCommand> history_;
};

class SlowChannel {
public:
    SlowChannel(const DramSpec& spec, std::int64_t first_refresh);

    /// Runs all arrivals (by clock) to their end; answers the completion clock of every id.
    std::map<std::int64_t, std::int64_t> run(std::deque<Arrival> arrivals);
    const std::vector<GivenCommand>& commands() const { return commands_; }

private:
    struct Burst {
        std::int64_t id;
        int bank;
        std::int64_t row;
    };
    Burst decode(std::int64_t id, std::int64_t local) const;
    void arrive(const Arrival& arrival);
    void admit();
    void turn();
    bool refresh(std::int64_t clock);
    void column(std::int64_t clock);
    void row(std::int64_t clock);
    bool try_give(Command command, int bank, std::int64_t clock);

    const DramSpec spec_;
    TableJudge judge_;
    std::deque<Burst> door_[2];
    std::vector<Burst> window_[2];  // oldest first
    std::vector<std::int64_t> open_;
    bool writing_ = false, refreshing_ = false;
    int floor_ = 0, passed_ = 0;
    std::int64_t due_;
    std::map<std::int64_t, std::int64_t> left_, done_;
    std::vector<GivenCommand> commands_;
};

}  // namespace systole::test
