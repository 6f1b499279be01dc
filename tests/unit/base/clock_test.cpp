// SPDX-License-Identifier: Apache-2.0
#include "sim/base/clock.h"

#include <catch2/catch.hpp>
#include <random>

using namespace systole;

TEST_CASE("a clock of 1.5 GHz has edges at whole picoseconds, rounded down", "[clock]") {
    const ClockDomain clock(Hertz(1'500'000'000));
    CHECK(clock.edge(Cycles(0)) == Ticks(0));
    CHECK(clock.edge(Cycles(1)) == Ticks(666));
    CHECK(clock.edge(Cycles(2)) == Ticks(1333));
    CHECK(clock.edge(Cycles(3)) == Ticks(2000));
}

TEST_CASE("no clock drifts over a thousand million cycles", "[clock]") {
    // f, and floor(10^9 * 10^12 / f) worked out by hand.
    struct Case {
        std::int64_t hertz;
        std::int64_t last;
    };
    const Case cases[] = {
        {1'500'000'000, 666'666'666'666},   {1'050'000'000, 952'380'952'380},
        {940'000'000, 1'063'829'787'234},   {700'000'000, 1'428'571'428'571},
        {1'000'000'000, 1'000'000'000'000}, {1'410'000'000, 709'219'858'156},
        {333'333'333, 3'000'000'003'000},   {2'000'000'000, 500'000'000'000},
        {3'000'000'000, 333'333'333'333},   {32'768, 30'517'578'125'000'000},
    };
    for (const auto& [hertz, last] : cases) {
        INFO(hertz << " Hz");
        const ClockDomain clock{Hertz(hertz)};
        CHECK(clock.edge(Cycles(1'000'000'000)) == Ticks(last));
        CHECK(clock.at_or_after(Ticks(last)) == Cycles(1'000'000'000));
    }
}

TEST_CASE("edges follow a slow exact walk that carries the remainder", "[clock]") {
    for (const std::int64_t hertz : {1'500'000'000, 1'050'000'000, 940'000'000, 7, 999'999'937}) {
        INFO(hertz << " Hz");
        const ClockDomain clock{Hertz(hertz)};
        std::int64_t tick = 0;
        std::int64_t remainder = 0;  // of tick, in 1/hertz
        for (std::int64_t n = 0; n < 100'000; ++n) {
            REQUIRE(clock.edge(Cycles(n)) == Ticks(tick));
            remainder += kTicksPerSecond % hertz;
            tick += kTicksPerSecond / hertz + remainder / hertz;
            remainder %= hertz;
        }
    }
}

TEST_CASE("the edges around a time enclose it", "[clock]") {
    constexpr std::uint64_t kSeed = 1;
    INFO("seed " << kSeed);
    std::mt19937_64 random(kSeed);
    for (int i = 0; i < 100'000; ++i) {
        const auto hertz = static_cast<std::int64_t>(random() % 4'000'000'000) + 1;
        const Ticks t(static_cast<std::int64_t>(random() % 1'000'000'000'000'000));
        INFO(hertz << " Hz, " << t.value() << " ps");
        const ClockDomain clock{Hertz(hertz)};
        const Cycles after = clock.at_or_after(t);
        const Cycles before = clock.at_or_before(t);
        REQUIRE(clock.edge(after) >= t);
        REQUIRE((after == Cycles(0) || clock.edge(after - Cycles(1)) < t));
        REQUIRE(clock.edge(before) <= t);
        REQUIRE(clock.edge(before + Cycles(1)) > t);
    }
}

TEST_CASE("waiting n cycles counts from the next edge", "[clock]") {
    const ClockDomain clock(Hertz(1'000'000'000));
    CHECK(clock.align(Ticks(1000)) == Ticks(1000));
    CHECK(clock.align(Ticks(1001)) == Ticks(2000));
    CHECK(clock.after(Ticks(1001), Cycles(3)) == Ticks(5000));
}

TEST_CASE("edges and their numbers are those of divisions in 128 bits", "[clock]") {
    std::mt19937_64 random(7);
    const auto up_to = [&](std::int64_t most) {  // of every order of magnitude
        const int bits = std::uniform_int_distribution<int>(0, 62)(random);
        return std::uniform_int_distribution<std::int64_t>(0,
                                                           std::min(most, std::int64_t{1} << bits))(random);
    };
    for (int i = 0; i < 200'000; ++i) {
        const std::int64_t f = 1 + up_to(kTicksPerSecond - 1);
        const ClockDomain clock{Hertz(f)};
        const std::int64_t t = up_to(Ticks::max().value() / 2);
        const Int128 n = (Int128{t} * f + kTicksPerSecond - 1) / kTicksPerSecond;
        INFO(f << " Hz, " << t << " ps");
        REQUIRE(clock.at_or_after(Ticks(t)).value() == n);
        const Int128 edge = n * kTicksPerSecond / f;
        REQUIRE(clock.edge(Cycles(static_cast<std::int64_t>(n))).value() == edge);
        // The last edge at or before is that before the first one later.
        const Int128 later = (Int128{t + 1} * f + kTicksPerSecond - 1) / kTicksPerSecond;
        REQUIRE(clock.at_or_before(Ticks(t)).value() == later - 1);
    }
}

TEST_CASE("the last times have edges, too", "[clock]") {
    // Of (2^63 - 1) ps, worked out by hand.
    const ClockDomain fast(Hertz(1'000'000'000'000)), slow(Hertz(1)), odd(Hertz(3));
    const std::int64_t most = Ticks::max().value();
    CHECK(fast.edge(Cycles(most - 1)) == Ticks(most - 1));
    CHECK(fast.at_or_after(Ticks::max()) == Cycles::max());
    CHECK(fast.at_or_before(Ticks::max()) == Cycles::max());
    CHECK(slow.edge(Cycles(9'223'372)) == Ticks(9'223'372'000'000'000'000));
    CHECK(slow.at_or_after(Ticks::max()) == Cycles(9'223'373));
    CHECK(slow.at_or_before(Ticks::max()) == Cycles(9'223'372));
    CHECK(odd.edge(Cycles(27'670'116)) == Ticks(9'223'372'000'000'000'000));
}
