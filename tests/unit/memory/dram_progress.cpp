// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/memory/dram_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <random>

#include "models/memory/addresses/address_map.h"
#include "models/memory/controller/dram_channel.h"
#include "models/memory/standards/command_checker.h"
#include "models/memory/standards/constraint_table.h"
#include "tests/unit/memory/memory_presets.h"

namespace systole::test {
namespace {

using Random = std::mt19937_64;

std::int64_t below(Random& random, std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

/// The longest wait for `following` after anything but a refresh.
std::int64_t longest(const DramSpec& spec, Command following) {
    std::int64_t clocks = 0;
    for (const ConstraintRow& row : find_constraint_table(spec.standard)->rows) {
        const auto has = [](const std::vector<Command>& commands, Command command) {
            return std::find(commands.begin(), commands.end(), command) != commands.end();
        };
        if (has(row.preceding, Command::Refresh) || has(row.preceding, Command::RefreshBank)) continue;
        if (has(row.following, following))
            clocks = std::max(clocks, evaluate_latency(row.latency, spec.timing).value());
    }
    return clocks;
}

/// Bursts that come in phases: each has its own mix of directions, places and pauses.
class Traffic {
public:
    Traffic(const DramSpec& spec, std::uint64_t seed)
        : random_(seed),
          bursts_(spec.bus_capacity() / spec.burst_bytes),
          row_(spec.bursts_per_row() * spec.banks()),
          pseudo_channels_(spec.pseudo_channels) {}

    struct Burst {
        int pseudo_channel;
        std::int64_t local;
        Direction direction;
        std::int64_t pause;  // clocks before it
    };
    Burst next() {
        if (left_-- == 0) begin_phase();
        const bool write = below(random_, 100) < writes_percent_;
        const bool pause = below(random_, 64) < pauses_;
        const auto bus = static_cast<int>(below(random_, 100) < second_percent_ ? pseudo_channels_ - 1 : 0);
        return {bus, place(), write ? Direction::Write : Direction::Read, pause ? below(random_, 300) : 0};
    }

private:
    void begin_phase() {
        left_ = 20 + below(random_, 800);
        writes_percent_ = below(random_, 3) * below(random_, 51);
        second_percent_ = below(random_, 3) * 50;
        pauses_ = below(random_, 4) == 0 ? below(random_, 32) : 0;
        kind_ = below(random_, 5);
        at_ = below(random_, bursts_);
    }
    std::int64_t place() {
        const std::int64_t rows = bursts_ / row_;
        switch (kind_) {
            case 0:  // anywhere
                return below(random_, bursts_);
            case 1:  // one stream
                return at_ = (at_ + 1) % bursts_;
            case 2:  // other rows of one bank
                return (at_ + below(random_, rows) * row_) % bursts_;
            case 3:  // hits of one row, and now and then another row of its bank
                return below(random_, 50) == 0 ? (at_ + row_) % bursts_ : at_;
            default:  // a stream, and now and then a place of it long passed
                return below(random_, 50) == 0 ? (at_ + bursts_ / 2) % bursts_ : at_ = (at_ + 1) % bursts_;
        }
    }

    Random random_;
    const std::int64_t bursts_, row_;  // of a pseudo-channel; from a row to the next of all banks
    const int pseudo_channels_;
    std::int64_t left_ = 0, writes_percent_ = 0, second_percent_ = 0, pauses_ = 0, kind_ = 0, at_ = 0;
};

/// Watches who passes whom. A completion tells the clock of its column.
class Watch {
public:
    explicit Watch(const DramSpec& spec)
        : latency_{spec.timing.at("CL") + spec.timing.at("BL"), spec.timing.at("CWL") + spec.timing.at("BL")},
          buses_(static_cast<std::size_t>(spec.pseudo_channels)) {}

    void pushed(std::int64_t id, const Traffic::Burst& burst, std::int64_t clock) {
        Bus& bus = buses_[static_cast<std::size_t>(burst.pseudo_channel)];
        if (bus.waiting.empty()) bus.quiet_since = clock;
        bus.waiting.emplace_hint(bus.waiting.end(), id, burst.direction);
        owner_.emplace_hint(owner_.end(), id, burst.pseudo_channel);
    }
    void done(std::int64_t id, std::int64_t clock) {
        const auto owner = owner_.find(id);
        Bus& bus = buses_[static_cast<std::size_t>(owner->second)];
        const Direction direction = bus.waiting.at(id);
        served_.push({clock - latency_[static_cast<std::size_t>(direction)], id});
    }
    /// All completions up to `now` are told: columns so long before are in order.
    void settle(std::int64_t now) {
        const std::int64_t certain = now - std::max(latency_[0], latency_[1]);
        for (; !served_.empty() && served_.top().first <= certain; served_.pop())
            serve(served_.top().second, served_.top().first);
    }
    std::int64_t passed() const { return passed_; }
    std::int64_t longest_gap() const { return longest_gap_; }
    std::size_t waiting() const { return owner_.size(); }

private:
    struct Bus {
        std::map<std::int64_t, Direction> waiting;  // by age
        std::int64_t passed = 0, quiet_since = 0;
    };
    void serve(std::int64_t id, std::int64_t column) {
        const auto owner = owner_.find(id);
        Bus& bus = buses_[static_cast<std::size_t>(owner->second)];
        bus.passed = bus.waiting.begin()->first == id ? 0 : bus.passed + 1;
        passed_ = std::max(passed_, bus.passed);
        longest_gap_ = std::max(longest_gap_, column - bus.quiet_since);
        bus.quiet_since = column;
        bus.waiting.erase(id);
        owner_.erase(owner);
    }

    const std::array<std::int64_t, 2> latency_;
    std::vector<Bus> buses_;
    std::map<std::int64_t, int> owner_;
    using Served = std::pair<std::int64_t, std::int64_t>;  // clock of the column, request
    std::priority_queue<Served, std::vector<Served>, std::greater<>> served_;
    std::int64_t passed_ = 0, longest_gap_ = 0;
};

}  // namespace

std::vector<ProgressCase> progress_cases() {
    std::vector<ProgressCase> cases;
    for (const std::string name : {"hbm2_2000", "hbm2e_3200", "hbm3_6400", "hbm3e_9600", "ddr3_2133",
                                   "ddr4_3200", "gddr6_16000", "lpddr5_6400"}) {
        DramSpec spec = memory_spec(name);
        spec.channels = 1;
        spec.address_map = spec.bank_groups > 1 ? "ch bg co ba ro" : "ch co ba ro";
        if (spec.pseudo_channels == 1) spec.address_map.erase(0, 3);
        const bool per_bank = find_constraint_table(spec.standard)->refreshes_banks();
        for (int refresh = 0; refresh < (per_bank ? 5 : 3); ++refresh) {
            spec.refresh = static_cast<RefreshPolicy>((refresh + 1) / 2);
            spec.refresh_postpone = refresh == 2 || refresh == 4 ? 8 : 0;
            for (int policy = 0; policy < 6; ++policy) {
                spec.page = static_cast<PagePolicy>(policy % 3);
                spec.row_hit_cap = policy < 3 ? 0 : 4;
                spec.patience = policy < 3 ? 16 : 4096;
                spec.shared_queue = spec.pseudo_channels > 1 && policy % 2 == 1;
                static constexpr std::array<const char*, 5> kRefresh{"off", "all banks", "all, postponed",
                                                                     "per bank", "bank, postponed"};
                static constexpr std::array<const char*, 3> kPage{"open", "closed", "adaptive"};
                cases.push_back({fmt::format("{:<8}{:<16}{:<9}cap {} patience {:<5}{}", spec.standard,
                                             kRefresh[static_cast<std::size_t>(refresh)],
                                             kPage[static_cast<std::size_t>(policy % 3)], spec.row_hit_cap,
                                             spec.patience, spec.shared_queue ? "shared" : ""),
                                 spec});
            }
        }
    }
    return cases;
}

std::int64_t passing_bound(const DramSpec& spec) {
    const ConstraintTable& table = *find_constraint_table(spec.standard);
    std::int64_t clocks = longest(spec, Command::Pre) + longest(spec, Command::Act) + spec.timing.at("FAW") +
                          std::max(longest(spec, Command::Read), longest(spec, Command::Write));
    if (spec.refresh == RefreshPolicy::PerBank)
        clocks += longest(spec, Command::RefreshBank) + spec.timing.at("RFCSB");
    const std::int64_t apart =
        min_distance(table, spec.timing, Scope::PseudoChannel, Command::Read, Command::Read).value();
    const std::int64_t at_the_door = spec.shared_queue ? spec.queue : 0;
    return spec.patience + 2 * clocks / apart + at_the_door;
}

Progress drive(const DramSpec& spec, std::int64_t requests, std::uint64_t seed) {
    const AddressMap map(spec);
    DramChannel channel(spec, map);
    CommandChecker checker(spec);
    channel.listen(checker.listener());
    Traffic traffic(spec, seed);
    Watch watch(spec);
    std::vector<DramChannel::Completion> done;
    Cycles now;
    const auto collect = [&] {
        done.clear();
        channel.advance(now, done);
        for (const auto& [id, clock] : done) watch.done(id, clock.value());
        watch.settle(now.value());
    };
    Progress progress;
    const Cycles forever(1'000'000);  // no wait for room is so long
    for (std::int64_t id = 0; id < requests; ++id) {
        const Traffic::Burst burst = traffic.next();
        const Cycles begin = now + Cycles(burst.pause);
        now = channel.wait_for_room(burst.pseudo_channel, burst.direction, begin, begin + forever);
        if (now == begin + forever) {
            progress.fault = fmt::format("deadlock: no room from clock {} on", begin.value());
            return progress;
        }
        collect();
        channel.push(burst.pseudo_channel, id, burst.local, 1, burst.direction, now);
        watch.pushed(id, burst, now.value());
    }
    while (!channel.idle() && channel.next_event() < now + forever) {
        now = channel.next_event();
        collect();
    }
    now += forever;
    collect();
    if (watch.waiting() > 0) progress.fault = fmt::format("{} requests were never served", watch.waiting());
    progress.commands = checker.commands();
    progress.passed = watch.passed();
    progress.longest_gap = watch.longest_gap();
    return progress;
}

}  // namespace systole::test
