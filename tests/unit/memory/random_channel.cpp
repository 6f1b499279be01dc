// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/memory/random_channel.h"

#include <fmt/format.h>
#include <algorithm>

#include "models/memory/standards/constraint_table.h"
#include "tests/unit/memory/memory_presets.h"
#include "tests/unit/memory/memory_specs.h"

namespace systole::test {
namespace {

bool refreshes_banks(const DramSpec& spec) {
    return find_constraint_table(spec.standard)->refreshes_banks();
}

/// One channel of a shipped memory, with its own timings; most often HBM2, with one of several address maps.
DramSpec some_device(Random& random) {
    static const std::vector<std::string> names{"ddr3_2133",  "ddr4_3200", "gddr6_16000", "lpddr5_6400",
                                                "hbm2e_3600", "hbm3_6400", "hbm3e_9600"};
    if (const auto choice = static_cast<std::size_t>(pick(random, 0, 13)); choice < names.size()) {
        DramSpec spec = memory_spec(names[choice]);
        spec.channels = 1;
        spec.address_map = spec.bank_groups > 1 ? "ch bg co ba ro" : "ch co ba ro";
        return spec;
    }
    DramSpec spec = hbm2();
    const std::vector<std::string> maps{"bg2 co5 ba2 ro15", "bg2 co5 ba2 ro15",     "co5 bg2 ba2 ro15",
                                        "ba2 co5 bg2 ro15", "co2 bg2 co3 ba2 ro15", "bg2 ba2 co5 ro15",
                                        "co5 ba2 bg2 ro15"};
    spec.address_map = maps[static_cast<std::size_t>(pick(random, 0, 6))];
    spec.pseudo_channels = static_cast<int>(pick(random, 1, 2));
    if (spec.pseudo_channels == 2) spec.address_map = "ch1 " + spec.address_map;
    return spec;
}

void some_refresh(Random& random, DramSpec& spec) {
    const auto choice = pick(random, 0, 3);
    spec.refresh = choice == 0 ? RefreshPolicy::Off : RefreshPolicy::AllBank;
    if (choice == 3 && refreshes_banks(spec)) spec.refresh = RefreshPolicy::PerBank;
    if (pick(random, 0, 2) > 0) {
        spec.timing["RFC"] = pick(random, 60, 200);
        spec.timing["REFI"] = pick(random, 500, 1500);
    }
    if (spec.refresh == RefreshPolicy::PerBank && pick(random, 0, 1) > 0)
        spec.timing["REFISB"] = spec.timing["RFCSB"] + pick(random, 60, 500);
    spec.refresh_postpone = static_cast<int>(pick(random, 0, 1) * pick(random, 0, 8));
    spec.refresh_phase = Ticks(pick(random, 0, 1'500'000));
}

void some_policy(Random& random, DramSpec& spec) {
    spec.queue = static_cast<int>(pick(random, 0, 3) == 0 ? pick(random, 1, 8) : pick(random, 16, 64));
    spec.shared_queue = pick(random, 0, 2) == 0;
    spec.writes.high = std::max(1, spec.queue * static_cast<int>(pick(random, 5, 10)) / 10);
    spec.writes.low = static_cast<int>(pick(random, 0, spec.writes.high - 1));
    spec.patience = static_cast<int>(pick(random, 0, 1) == 0 ? pick(random, 1, 100) : 256);
    spec.page = static_cast<PagePolicy>(std::max<std::int64_t>(pick(random, -2, 2), 0));
    spec.row_hit_cap = static_cast<int>(std::max<std::int64_t>(pick(random, -8, 8), 0));
}

std::string text_of(const GivenCommand& given) {
    return fmt::format("{} at {} to pc {} bank {} row {}", to_string(given.command), given.clock.value(),
                       given.pseudo_channel, given.bank, given.row);
}

/// Refreshes beyond the last column are given or not, depending on how far a run looks.
std::vector<GivenCommand> until_last_column(std::vector<GivenCommand> commands) {
    std::int64_t last = 0;
    for (const GivenCommand& given : commands)
        if (is_column(given.command)) last = given.clock.value();
    std::erase_if(commands, [last](const GivenCommand& given) { return given.clock.value() > last; });
    return commands;
}

std::string first_difference(const std::vector<GivenCommand>& fast, const std::vector<GivenCommand>& slow) {
    for (std::size_t i = 0; i < std::max(fast.size(), slow.size()); ++i) {
        if (i < fast.size() && i < slow.size() && fast[i] == slow[i]) continue;
        return fmt::format("command {}: fast {}, slow {}", i, i < fast.size() ? text_of(fast[i]) : "nothing",
                           i < slow.size() ? text_of(slow[i]) : "nothing");
    }
    return "";
}

std::string first_difference(const BusAccount& fast, const BusAccount& slow) {
    std::string text;
    for (std::size_t i = 0; i < fast.clocks.size(); ++i)
        if (fast.clocks[i] != slow.clocks[i])
            text += fmt::format(" {}: fast {}, slow {};", to_string(static_cast<BusTime>(i)), fast.clocks[i],
                                slow.clocks[i]);
    return text;
}

}  // namespace

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

DramSpec some_memory(Random& random) {
    DramSpec spec = some_device(random);
    some_refresh(random, spec);
    some_policy(random, spec);
    return spec;
}

std::deque<Arrival> some_traffic(Random& random, const DramSpec& spec, std::int64_t bursts) {
    const std::int64_t all = spec.bus_capacity() / spec.burst_bytes;
    const std::int64_t writes_percent = pick(random, 0, 2) * pick(random, 0, 40);
    const std::int64_t longest = pick(random, 0, 1) == 0 ? 1 : pick(random, 2, 400);
    const std::int64_t region = pick(random, 0, 1) == 0 ? all : 4096, pause = pick(random, 0, 80);
    const std::int64_t stride_percent = pick(random, 0, 3) == 0 ? 0 : pick(random, 0, 100);
    std::deque<Arrival> arrivals;
    std::array<std::int64_t, 2> at{};
    std::int64_t clock = 0, total = 0;
    for (std::int64_t id = 0; total < bursts; ++id) {
        const std::int64_t count = pick(random, 1, longest);
        const int bus = static_cast<int>(pick(random, 0, spec.pseudo_channels - 1));
        std::int64_t& first = at[static_cast<std::size_t>(bus)];
        if (pick(random, 0, 99) < stride_percent) first = pick(random, 0, region - 1);
        first = std::min(first, all - count);
        const bool write = pick(random, 0, 99) < writes_percent;
        arrivals.push_back({clock, bus, id, first, count, write ? Direction::Write : Direction::Read});
        first += count, total += count;
        if (pick(random, 0, 2) == 0) clock += pick(random, 0, pause);
    }
    return arrivals;
}

DramSpec some_streaming(Random& random, DramSpec spec) {
    spec.page = PagePolicy::Open;
    spec.row_hit_cap = 0;
    spec.shared_queue = pick(random, 0, 9) == 0;
    spec.queue = static_cast<int>(pick(random, 14, 64));
    spec.writes.high =
        pick(random, 0, 1) == 0 ? spec.queue * 4 / 5 : static_cast<int>(pick(random, 1, spec.queue));
    spec.writes.low = static_cast<int>(pick(random, 0, spec.writes.high - 1));
    spec.patience = static_cast<int>(pick(random, 0, 1) == 0 ? 256 : pick(random, 1, 600));
    return spec;
}

std::deque<Arrival> some_engines(Random& random, const DramSpec& spec, std::int64_t bursts) {
    struct Engine {
        std::int64_t at;
        Direction direction;
    };
    const std::int64_t all = spec.bus_capacity() / spec.burst_bytes;
    const std::int64_t longest = pick(random, 1, 3) * 32, jumps_percent = pick(random, 0, 20);
    const std::int64_t pause = pick(random, 0, 3) == 0 ? 0 : pick(random, 0, 300);
    std::vector<Engine> engines(static_cast<std::size_t>(pick(random, 1, 4)));
    for (Engine& engine : engines)
        engine = {pick(random, 0, all - 1), pick(random, 0, 2) == 0 ? Direction::Write : Direction::Read};
    std::deque<Arrival> arrivals;
    std::int64_t clock = 0, total = 0;
    for (std::int64_t id = 0; total < bursts;) {
        const auto last = static_cast<std::int64_t>(engines.size()) - 1;
        Engine& engine = engines[static_cast<std::size_t>(pick(random, 0, last))];
        const std::int64_t count = pick(random, 0, 9) == 0 ? pick(random, 1, longest) : longest;
        if (pick(random, 0, 99) < jumps_percent) engine.at = pick(random, 0, all - 1);
        const std::int64_t first = std::min(engine.at, all - count);
        for (int bus = 0; bus < spec.pseudo_channels; ++bus) {
            if (pick(random, 0, 49) == 0) continue;
            arrivals.push_back({clock, bus, id++, first, count, engine.direction});
            total += count;
        }
        engine.at = (first + count) % all;
        if (pick(random, 0, 1) == 0) clock += pick(random, 0, pause);
    }
    return arrivals;
}

DramSpec some_pages(Random& random) {
    if (pick(random, 0, 2) == 0) return some_streaming(random, some_memory(random));
    DramSpec spec = hbm2();
    const std::int64_t columns = pick(random, 0, 5), banks = pick(random, 0, 2);
    spec.row_bytes = Bytes(32 << columns);
    spec.banks_per_group = 1 << banks;
    spec.address_map = fmt::format("bg2 {}{}ro15", columns > 0 ? fmt::format("co{} ", columns) : "",
                                   banks > 0 ? fmt::format("ba{} ", banks) : "");
    spec.pseudo_channels = static_cast<int>(pick(random, 1, 2));
    if (spec.pseudo_channels == 2) spec.address_map = "ch1 " + spec.address_map;
    const auto draw = [&](const char* name, std::int64_t least, std::int64_t most) {
        if (pick(random, 0, 1) == 0) spec.timing[name] = pick(random, least, most);
    };
    for (const char* name : {"RCDRD", "RCDWR", "RP"}) draw(name, 2, 30);
    // Up to about as long as it takes to come back to a bank.
    const std::int64_t around = 2 * (4 << (columns + banks));
    if (pick(random, 0, 1) == 0)
        draw("RAS", 10, 60);
    else
        spec.timing["RAS"] = std::max<std::int64_t>(around + pick(random, -150, 30), 10);
    spec.timing["RC"] = spec.timing["RAS"] + spec.timing["RP"] + pick(random, 0, 1) * pick(random, 0, 200);
    draw("RRD_S", 2, 8);
    draw("FAW", 8, 80);
    draw("RTP", 2, 30);
    draw("WR", 4, 60);
    some_refresh(random, spec);
    // Refreshes leave time to open a row, read it and close it.
    spec.timing["REFI"] = std::max(spec.timing["REFI"], 2 * spec.timing["RC"] + spec.timing["RFC"]);
    return some_streaming(random, spec);
}

std::deque<Arrival> some_long_streams(Random& random, const DramSpec& spec, std::int64_t bursts) {
    const std::int64_t all = spec.bus_capacity() / spec.burst_bytes;
    const std::int64_t length = pick(random, 0, 1) == 0 ? pick(random, 1, 12) * 64 : pick(random, 9, 900);
    const std::int64_t trouble = pick(random, 0, 2) * pick(random, 1, 10);  // in a hundred
    const auto direction = static_cast<Direction>(pick(random, 0, 1));
    const std::int64_t clocks = spec.timing.at("BL") * length + pick(random, -2, 2) * length / 8;
    const auto may_be = [&] { return pick(random, 0, 99) < trouble; };
    std::deque<Arrival> arrivals;
    std::int64_t at = pick(random, 0, all / 2) / 64 * 64, clock = 0, total = 0;
    for (std::int64_t id = 0; total < bursts; total += length) {
        if (may_be()) at = pick(random, 0, all - 2 * length);
        if (may_be()) at = std::max<std::int64_t>(at - pick(random, 1, 2 * length), 0);
        arrivals.push_back({clock, 0, id++, at, length, direction});
        at = (at + length) % (all - length);
        if (may_be())
            arrivals.push_back({clock, pick(random, 0, 3) == 0 ? spec.pseudo_channels - 1 : 0, id++,
                                pick(random, 0, all - 1), 1,
                                pick(random, 0, 1) == 0 ? direction : opposite(direction)});
        if (pick(random, 0, 3) > 0) clock += pick(random, 0, 2) * clocks + pick(random, -4, 4);
        clock = std::max(clock, arrivals.back().clock);
    }
    return arrivals;
}

std::string text_of(const DramSpec& spec) {
    return fmt::format(
        "{} x{}, map {}, queue {}{}, writes {}/{}, patience {}, page {}, cap {}, refresh {} postpone {}",
        spec.standard, spec.pseudo_channels, spec.address_map, spec.queue, spec.shared_queue ? " shared" : "",
        spec.writes.high, spec.writes.low, spec.patience, static_cast<int>(spec.page), spec.row_hit_cap,
        static_cast<int>(spec.refresh), spec.refresh_postpone);
}

FastRun run_fast(const DramSpec& spec, std::deque<Arrival> arrivals, Random& random, bool nervous) {
    FastRun run;
    const AddressMap map(spec);
    DramChannel channel(spec, map);
    channel.listen([&run](const GivenCommand& given) { run.commands.push_back(given); });
    std::vector<DramChannel::Completion> done;
    Cycles now;
    while (!arrivals.empty() || !channel.idle()) {
        Cycles next = channel.next_event();
        if (next <= now && now > Cycles())
            run.fault = fmt::format("next_event() stands still at {}", now.value());
        if (!arrivals.empty()) next = std::min(next, Cycles(arrivals.front().clock));
        if (nervous && pick(random, 0, 3) == 0) next = std::min(next, now + Cycles(pick(random, 1, 20)));
        if (nervous && pick(random, 0, 4) == 0) channel.settle(next);  // an observer changes nothing
        const bool late = next < Cycles::max() && next < now;
        if (late) run.fault = "time runs backwards";
        now = next;
        done.clear();
        channel.advance(now, done);
        for (const auto& [id, clock] : done) {
            run.done[id] = std::max(run.done[id], clock.value());
            if (clock < now)
                run.fault = fmt::format("request {} ended at {}, told at {}", id, clock.value(), now.value());
        }
        for (; !arrivals.empty() && arrivals.front().clock == now.value(); arrivals.pop_front()) {
            const Arrival& arrival = arrivals.front();
            channel.push(arrival.pseudo_channel, arrival.id, arrival.first, arrival.count, arrival.direction,
                         now);
        }
    }
    run.end = now.value();
    for (int bus = 0; bus < spec.pseudo_channels; ++bus) run.accounts.push_back(channel.account(bus, now));
    return run;
}

std::deque<Arrival> cut_up(const std::deque<Arrival>& whole, Random& random) {
    std::deque<Arrival> pieces;
    for (const Arrival& arrival : whole) {
        for (std::int64_t at = 0; at < arrival.count;) {
            Arrival piece = arrival;
            piece.first += at;
            piece.count = pick(random, 1, arrival.count - at);
            at += piece.count;
            pieces.push_back(piece);
        }
    }
    return pieces;
}

std::string difference(const DramSpec& spec, const std::deque<Arrival>& arrivals, std::uint64_t seed) {
    const AddressMap map(spec);
    SlowChannel twin(spec, map);
    const auto& expected = twin.run(arrivals);
    Random random(seed);
    const FastRun run = run_fast(spec, arrivals, random, seed % 2 == 0);
    const std::string commands =
        first_difference(until_last_column(run.commands), until_last_column(twin.commands()));
    if (!commands.empty()) return commands;
    if (run.done != expected) return "completions differ";
    for (int bus = 0; bus < spec.pseudo_channels; ++bus) {
        const BusAccount slow = twin.account(bus, run.end),
                         fast = run.accounts[static_cast<std::size_t>(bus)];
        if (fast.total() != run.end)
            return fmt::format("the account of pc {} sums to {}, not {}", bus, fast.total(), run.end);
        if (!(fast == slow))
            return fmt::format("account of pc {} at {}:{}", bus, run.end, first_difference(fast, slow));
    }
    return run.fault;
}

}  // namespace systole::test
