// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/held_clock.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <utility>
#include <vector>

namespace systole::simt {
namespace {

constexpr Hertz kHighest(2'000'000'000);

}  // namespace

TEST_CASE("A clock that was held falls at once and rises when none lower has ended for a while", "[simt]") {
    HeldClock held(kHighest, Ticks(100));
    const auto after = [&](std::int64_t now) { return held.at(Ticks(now)).value() / 1'000'000; };
    CHECK(after(0) == 2000);
    held.hold(Ticks(10), kHighest);  // not held at all
    CHECK(after(10) == 2000);
    held.hold(Ticks(20), Hertz(1'500'000'000));
    CHECK(after(20) == 1500);
    held.hold(Ticks(50), Hertz(1'200'000'000));
    held.hold(Ticks(60), Hertz(1'300'000'000));  // decides when the lower one is over
    CHECK(after(130) == 1200);
    CHECK(after(149) == 1200);
    CHECK(after(150) == 1300);
    CHECK(after(160) == 2000);
    HeldClock at_once(kHighest, Ticks(0));
    at_once.hold(Ticks(20), Hertz(1'500'000'000));
    CHECK(at_once.at(Ticks(20)) == kHighest);
}

TEST_CASE("Of clocks that were held, the lowest of the last while decides, in any order", "[simt]") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto draw = [&](int most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random); };
    const Ticks rise(draw(60));
    HeldClock held(kHighest, rise);
    std::vector<std::pair<Ticks, Hertz>> all;
    for (Ticks now(0); now < Ticks(2000); now += Ticks(draw(20))) {
        if (draw(1) == 0) {
            all.emplace_back(now, Hertz(1 + draw(30)));
            held.hold(now, all.back().second);
        }
        Hertz lowest = kHighest;
        for (const auto& [end, clock] : all)
            if (now < end + rise) lowest = std::min(lowest, clock);
        REQUIRE(held.at(now) == lowest);
    }
}

}  // namespace systole::simt
