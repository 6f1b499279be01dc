// SPDX-License-Identifier: Apache-2.0
// DramChannel against its slow twin: the same arrivals, command for command, completion for completion and
// clock of the data bus for clock.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/support/seeds.h"
#include "tests/unit/memory/memory_specs.h"
#include "tests/unit/memory/random_channel.h"

namespace systole::test {
namespace {

/// Leaves out arrivals as long as the two still differ.
std::deque<Arrival> shrink(const DramSpec& spec, std::deque<Arrival> arrivals, std::uint64_t seed) {
    for (std::size_t piece = arrivals.size() / 2; piece > 0; piece = piece / 2) {
        for (std::size_t at = 0; at + piece <= arrivals.size();) {
            std::deque<Arrival> fewer = arrivals;
            const auto from = fewer.begin() + static_cast<std::ptrdiff_t>(at);
            fewer.erase(from, from + static_cast<std::ptrdiff_t>(piece));
            if (!fewer.empty() && !difference(spec, fewer, seed).empty())
                arrivals = fewer;
            else
                at += piece;
        }
    }
    return arrivals;
}

std::string list_of(const std::deque<Arrival>& arrivals) {
    std::string text;
    for (const Arrival& a : arrivals)
        text += fmt::format("\n  {}: {} {} + {} to pc {}", a.clock,
                            a.direction == Direction::Read ? "R" : "W", a.first, a.count, a.pseudo_channel);
    return text;
}

/// Rows of a few lengths, read one behind the other, each from the last bursts of the one before on; and
/// writes elsewhere, which turn the bus between them.
std::deque<Arrival> some_overlapping(Random& random, const DramSpec& spec, std::int64_t bursts) {
    const std::int64_t all = spec.bus_capacity() / spec.burst_bytes, row = pick(random, 4, 40);
    const std::int64_t overlap = pick(random, 1, std::min<std::int64_t>(row - 1, 16));
    const std::int64_t pause = pick(random, 0, 60), writes_percent = pick(random, 0, 30);
    const std::int64_t buses = pick(random, 0, 2) > 0 ? 1 : spec.pseudo_channels;
    std::deque<Arrival> arrivals;
    std::array<std::int64_t, 2> at{pick(random, 0, all / 4), pick(random, all / 2, all * 3 / 4)};
    std::int64_t clock = 0, total = 0;
    for (std::int64_t id = 0; total < bursts; ++id) {
        const auto direction = static_cast<Direction>(pick(random, 0, 99) < writes_percent);
        const int bus = static_cast<int>(id % buses);
        std::int64_t& first = at[static_cast<std::size_t>(direction)];
        const std::int64_t count = pick(random, 0, 9) == 0 ? pick(random, 1, 60) : row;
        arrivals.push_back({clock, bus, id, first, count, direction});
        first += std::max<std::int64_t>(count - overlap, 1), total += count;
        if (pick(random, 0, 1) == 0) clock += pick(random, 0, pause);
    }
    return arrivals;
}

void compare(std::uint64_t from, std::uint64_t to, std::int64_t bursts) {
    for (std::uint64_t seed = from; seed < from + systole::test::enough(to - from + 1); ++seed) {
        Random random(seed);
        const DramSpec spec = some_memory(random);
        const std::deque<Arrival> arrivals = some_traffic(random, spec, bursts);
        if (difference(spec, arrivals, seed).empty()) continue;
        const std::deque<Arrival> few = shrink(spec, arrivals, seed);
        FAIL("seed " << seed << ", " << text_of(spec) << ": " << difference(spec, few, seed) << list_of(few));
    }
    SUCCEED();
}

/// On memories that can stream.
void compare_streams(std::deque<Arrival> some(Random&, const DramSpec&, std::int64_t bursts),
                     std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t seed = from; seed < from + systole::test::enough(to - from + 1); ++seed) {
        Random random(seed);
        const DramSpec spec = some_streaming(random, some_memory(random));
        const std::deque<Arrival> arrivals = some(random, spec, 1500);
        INFO("seed " << seed << ", " << text_of(spec));
        REQUIRE(difference(spec, arrivals, seed) == "");
    }
}

}  // namespace

TEST_CASE("random traffic gets the commands, completions and bus account of the clock-by-clock twin") {
    compare(1, 300, 500);
}

TEST_CASE("engines that read and write beside each other get the commands of the clock-by-clock twin") {
    compare_streams(some_engines, 5001, 5060);
}

TEST_CASE("ranges that overlap, as rows that end within a burst do, get the commands of the twin") {
    compare_streams(some_overlapping, 7001, 7200);
}

TEST_CASE("long streams over pages of any length get the commands of the clock-by-clock twin") {
    for (std::uint64_t seed = 9001; seed <= 9000 + systole::test::enough(120); ++seed) {
        Random random(seed);
        const DramSpec spec = some_pages(random);
        const std::deque<Arrival> arrivals = some_long_streams(random, spec, 3000);
        INFO("seed " << seed << ", " << text_of(spec));
        REQUIRE(difference(spec, arrivals, seed) == "");
    }
}

TEST_CASE("a stream ends before it has passed a lone burst of the other direction too often") {
    for (std::uint64_t seed = 6001; seed <= 6000 + systole::test::enough(40); ++seed) {
        Random random(seed);
        DramSpec spec = hbm2();
        spec.refresh = RefreshPolicy::Off;
        spec.patience = static_cast<int>(pick(random, 13, 200));
        const Direction streamed = pick(random, 0, 1) == 0 ? Direction::Read : Direction::Write;
        // A stream that never runs dry; what comes after the lone bursts passes them.
        std::deque<Arrival> arrivals;
        for (std::int64_t i = 0; i < 25; ++i) arrivals.push_back({100 * i, 0, i, 55 * i, 55, streamed});
        for (std::int64_t clock = pick(random, 60, 400); clock < 2000; clock += pick(random, 300, 900))
            arrivals.push_back(
                {clock, 0, 100 + clock, pick(random, 1 << 20, 1 << 21), 1, opposite(streamed)});
        std::stable_sort(arrivals.begin(), arrivals.end(),
                         [](const Arrival& a, const Arrival& b) { return a.clock < b.clock; });
        INFO("seed " << seed << ", " << text_of(spec));
        REQUIRE(difference(spec, arrivals, seed) == "");
    }
}

TEST_CASE("of banks that have served as many hits as they may, that of the oldest burst is closed first") {
    for (std::uint64_t seed = 8001; seed <= 8000 + systole::test::enough(60); ++seed) {
        Random random(seed);
        DramSpec spec = some_memory(random);
        spec.page = PagePolicy::Open;
        spec.row_hit_cap = static_cast<int>(pick(random, 1, 3));
        spec.queue = 64;
        spec.writes.high = 48, spec.writes.low = 8;
        // Single bursts of two rows of each bank, in any order.
        const AddressMap map(spec);
        std::int64_t bursts = 1;
        while (map.row_of(bursts) < 2) bursts *= 2;
        std::deque<Arrival> arrivals;
        for (std::int64_t id = 0; id < 600; ++id)
            arrivals.push_back({id / 30 * 200, 0, id, pick(random, 0, bursts - 1), 1, Direction::Read});
        INFO("seed " << seed << ", " << text_of(spec));
        REQUIRE(difference(spec, arrivals, seed) == "");
    }
}

TEST_CASE("cutting requests into pieces of any size changes no command") {
    for (std::uint64_t seed = 2001; seed <= 2000 + systole::test::enough(200); ++seed) {
        Random random(seed);
        const DramSpec spec = some_memory(random);
        const std::deque<Arrival> whole = some_traffic(random, spec, 800);
        INFO("seed " << seed << ", " << text_of(spec));
        const FastRun pieces = run_fast(spec, cut_up(whole, random), random, true);
        const FastRun run = run_fast(spec, whole, random, false);
        REQUIRE(pieces.done == run.done);
        REQUIRE(pieces.fault == "");
    }
}

TEST_CASE("a long pause changes nothing, though nobody gives its refreshes one by one") {
    for (std::uint64_t seed = 4001; seed <= 4000 + systole::test::enough(60); ++seed) {
        Random random(seed);
        const DramSpec spec = some_memory(random);
        std::deque<Arrival> arrivals = some_traffic(random, spec, 100);
        std::int64_t pause = 0;
        for (std::size_t i = 0; i < arrivals.size(); ++i) {
            if (i % 30 == 20) pause += pick(random, 20'000, 600'000);
            arrivals[i].clock += pause;
        }
        const AddressMap map(spec);
        DramChannel skipping(spec, map), listening(spec, map);
        std::int64_t heard = 0;
        listening.listen([&heard](const GivenCommand&) { ++heard; });
        std::vector<DramChannel::Completion> some, all;
        INFO("seed " << seed << ", " << text_of(spec));
        for (const Arrival& a : arrivals) {
            const Cycles now(a.clock);
            skipping.advance(now, some);
            listening.advance(now, all);
            for (int bus = 0; bus < spec.pseudo_channels; ++bus) {
                REQUIRE(skipping.account(bus, now) == listening.account(bus, now));
                REQUIRE(skipping.stats(bus).refreshes == listening.stats(bus).refreshes);
                REQUIRE(skipping.stats(bus).bank_refreshes == listening.stats(bus).bank_refreshes);
            }
            skipping.push(a.pseudo_channel, a.id, a.first, a.count, a.direction, now);
            listening.push(a.pseudo_channel, a.id, a.first, a.count, a.direction, now);
        }
        const Cycles end(arrivals.back().clock + 1'000'000);
        skipping.advance(end, some);
        listening.advance(end, all);
        REQUIRE(some.size() == arrivals.size());
        for (std::size_t i = 0; i < some.size(); ++i) {
            REQUIRE(some[i].request == all[i].request);
            REQUIRE(some[i].clock == all[i].clock);
        }
    }
}

TEST_CASE("the clock at which there is room is the first at which the twin has room") {
    for (std::uint64_t seed = 3001; seed <= 3000 + systole::test::enough(40); ++seed) {
        Random random(seed);
        const DramSpec spec = some_memory(random);
        const AddressMap map(spec);
        DramChannel channel(spec, map);
        SlowChannel twin(spec, map);
        const std::int64_t bursts = spec.bus_capacity() / spec.burst_bytes;
        INFO("seed " << seed << ", " << text_of(spec));
        for (std::int64_t id = 0; id < 300; ++id) {
            const int bus = static_cast<int>(pick(random, 0, spec.pseudo_channels - 1));
            const auto direction = static_cast<Direction>(pick(random, 0, 3) == 0);
            const std::int64_t limit = twin.now() + pick(random, 0, 3) * pick(random, 0, 60);
            const std::int64_t found =
                channel.wait_for_room(bus, direction, Cycles(twin.now()), Cycles(limit)).value();
            while (twin.now() < limit && twin.room(bus, direction) == 0) twin.step();
            REQUIRE(found == twin.now());
            const std::int64_t first = pick(random, 0, bursts - 1);
            channel.push(bus, id, first, 1, direction, Cycles(found));
            twin.push({found, bus, id, first, 1, direction});
        }
    }
}

}  // namespace systole::test
