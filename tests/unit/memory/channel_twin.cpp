// SPDX-License-Identifier: Apache-2.0
// PseudoChannel against its slow twin: the same arrivals, command for command and completion for completion.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/memory/memory_specs.h"
#include "tests/unit/memory/slow_channel.h"

namespace systole::test {
namespace {

using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// One of several memories, made small and hasty so that a short run meets every corner.
DramSpec some_memory(Random& random) {
    DramSpec spec = pick(random, 0, 2) == 0 ? ddr3() : hbm2();
    if (spec.standard == "HBM2") {
        const std::vector<std::string> maps{"bg2 co5 ba2 ro15", "co5 bg2 ba2 ro15", "co2 bg2 co3 ba2 ro15",
                                            "ba2 co5 bg2 ro15", "bg2 ba2 co5 ro15", "co5 ba2 bg2 ro15"};
        spec.address_map = maps[static_cast<std::size_t>(pick(random, 0, 5))];
    }
    spec.refresh = pick(random, 0, 3) > 0 ? RefreshPolicy::AllBank : RefreshPolicy::Off;
    spec.timing["REFI"] = pick(random, 400, 1500);
    spec.timing["RFC"] = pick(random, 60, 200);
    spec.queue = static_cast<int>(pick(random, 0, 3) == 0 ? pick(random, 1, 8) : pick(random, 16, 64));
    spec.writes.high = std::max(1, spec.queue * static_cast<int>(pick(random, 5, 10)) / 10);
    spec.writes.low = static_cast<int>(pick(random, 0, spec.writes.high - 1));
    spec.patience = static_cast<int>(pick(random, 1, 100));
    return spec;
}

/// A mix of streams, strides and random requests, in bursts of arrivals and pauses.
std::deque<Arrival> some_traffic(Random& random, const DramSpec& spec) {
    const std::int64_t bursts = spec.bus_capacity() / spec.burst_bytes;
    const std::int64_t writes_percent = pick(random, 0, 2) * pick(random, 0, 40);
    const std::int64_t longest = pick(random, 0, 1) == 0 ? 1 : pick(random, 2, 200);
    const std::int64_t region = pick(random, 0, 1) == 0 ? bursts : 4096, pause = pick(random, 0, 80);
    const std::int64_t stride_percent = pick(random, 0, 100);
    std::deque<Arrival> arrivals;
    std::int64_t clock = 0, at = 0, total = 0;
    for (std::int64_t id = 0; total < 800; ++id) {
        const std::int64_t count = pick(random, 1, longest);
        if (pick(random, 0, 99) >= stride_percent) at = pick(random, 0, region - 1);
        at = std::min(at, bursts - count);
        const bool write = pick(random, 0, 99) < writes_percent;
        arrivals.push_back({clock, id, at, count, write ? Direction::Write : Direction::Read});
        at += count, total += count;
        if (pick(random, 0, 2) == 0) clock += pick(random, 0, pause);
    }
    return arrivals;
}

struct FastRun {
    std::map<std::int64_t, std::int64_t> done;
    std::vector<GivenCommand> commands;
    bool late = false;       // next_event() was later than a completion, or did not move on
    bool wrong_row = false;  // a command was told with a row that its bank does not hold
};

/// Follows the open rows of the banks through what a listener is told.
class RowJudge {
public:
    bool agrees(Command command, int bank, std::int64_t row) {
        if (command == Command::PreAll) open_.clear();
        if (command == Command::PreAll || command == Command::Refresh) return true;
        if (command == Command::Act) return open_.emplace(bank, row).second && row >= 0;
        const bool same = open_.contains(bank) && open_[bank] == row;
        if (command == Command::Pre) open_.erase(bank);
        return same;
    }

private:
    std::map<int, std::int64_t> open_;
};

/// Drives the channel as a module would: by arrivals and next_event(), with needless calls in between.
FastRun run_fast(const DramSpec& spec, std::deque<Arrival> arrivals, std::int64_t first_refresh,
                 Random& random) {
    FastRun run;
    const AddressMap map(spec);
    PseudoChannel channel(spec, map, Cycles(first_refresh));
    RowJudge rows;
    channel.listen([&](Command command, int bank, std::int64_t row, Cycles clock) {
        run.wrong_row = run.wrong_row || !rows.agrees(command, bank, row);
        run.commands.push_back({command, bank, clock.value()});
    });
    std::vector<PseudoChannel::Completion> done;
    Cycles now;
    while (!arrivals.empty() || !channel.idle()) {
        Cycles next = channel.next_event();
        run.late = run.late || next <= now;
        if (!arrivals.empty()) next = std::min(next, Cycles(arrivals.front().clock));
        if (pick(random, 0, 3) == 0) next = std::min(next, now + Cycles(pick(random, 1, 20)));
        if (pick(random, 0, 4) == 0) channel.settle(next);  // an observer changes nothing
        now = next;
        done.clear();
        channel.advance(now, done);
        for (const auto& [id, clock] : done) {
            run.done[id] = std::max(run.done[id], clock.value());
            run.late = run.late || clock < now;
        }
        for (; !arrivals.empty() && arrivals.front().clock == now.value(); arrivals.pop_front()) {
            const Arrival& arrival = arrivals.front();
            channel.push(arrival.id, arrival.first, arrival.count, arrival.direction, now);
        }
    }
    return run;
}

std::string text_of(const GivenCommand& given) {
    return fmt::format("{} bank {} at {}", to_string(given.command), given.bank, given.clock);
}

/// Where two lists of commands first differ, in words; "" if they do not.
std::string first_difference(const std::vector<GivenCommand>& fast, const std::vector<GivenCommand>& slow) {
    for (std::size_t i = 0; i < std::max(fast.size(), slow.size()); ++i) {
        if (i < fast.size() && i < slow.size() && fast[i] == slow[i]) continue;
        return fmt::format("command {}: fast {}, slow {}", i, i < fast.size() ? text_of(fast[i]) : "nothing",
                           i < slow.size() ? text_of(slow[i]) : "nothing");
    }
    return "";
}

/// Refreshes beyond the last completion are given or not, depending on how far a run looks.
std::vector<GivenCommand> until(std::vector<GivenCommand> commands, std::int64_t end) {
    std::erase_if(commands, [end](const GivenCommand& given) { return given.clock > end; });
    return commands;
}

std::int64_t last_column(const std::vector<GivenCommand>& commands) {
    std::int64_t last = 0;
    for (const GivenCommand& given : commands)
        if (given.command == Command::Read || given.command == Command::Write) last = given.clock;
    return last;
}

}  // namespace

TEST_CASE("random traffic gets the commands and completions of the clock-by-clock twin") {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Random random(seed);
        const DramSpec spec = some_memory(random);
        const std::deque<Arrival> arrivals = some_traffic(random, spec);
        const std::int64_t first_refresh = pick(random, 1, spec.timing.at("REFI"));
        INFO("seed " << seed << ", " << spec.standard << ", map " << spec.address_map << ", queue "
                     << spec.queue);
        SlowChannel twin(spec, first_refresh);
        const auto expected = twin.run(arrivals);
        const FastRun run = run_fast(spec, arrivals, first_refresh, random);
        const std::int64_t end = last_column(twin.commands());
        REQUIRE(first_difference(until(run.commands, end), until(twin.commands(), end)) == "");
        REQUIRE(run.done == expected);
        REQUIRE_FALSE(run.late);
        REQUIRE_FALSE(run.wrong_row);
    }
}

TEST_CASE("every command respects the constraint table") {
    for (std::uint64_t seed = 1001; seed <= 1100; ++seed) {
        Random random(seed);
        const DramSpec spec = some_memory(random);
        INFO("seed " << seed);
        const FastRun run = run_fast(spec, some_traffic(random, spec), 300, random);
        TableJudge judge(spec);
        for (const GivenCommand& given : run.commands) {
            INFO(text_of(given));
            REQUIRE(judge.allows(given.command, given.bank, given.clock));
            judge.record(given);
        }
    }
}

TEST_CASE("cutting requests into pieces of any size changes no completion") {
    for (std::uint64_t seed = 2001; seed <= 2200; ++seed) {
        Random random(seed);
        const DramSpec spec = some_memory(random);
        const std::deque<Arrival> whole = some_traffic(random, spec);
        std::deque<Arrival> pieces;
        for (const Arrival& arrival : whole) {
            for (std::int64_t at = 0; at < arrival.count;) {
                const std::int64_t count = pick(random, 1, arrival.count - at);
                pieces.push_back({arrival.clock, arrival.id, arrival.first + at, count, arrival.direction});
                at += count;
            }
        }
        INFO("seed " << seed);
        REQUIRE(run_fast(spec, pieces, 500, random).done == run_fast(spec, whole, 500, random).done);
    }
}

}  // namespace systole::test
