// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/cta_sample.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <vector>

namespace systole::simt {
namespace {

/// What an unmarked kernel would take until so many of its CTAs have begun: picoseconds, and clocks with
/// data.
using Until = std::function<std::int64_t(std::int64_t ctas)>;

struct Watched {
    std::int64_t left_out = 0;  ///< CTAs
    std::int64_t begun = 0;     ///< when it was known which
    CtaSample sample;
};

/// CTAs begin `at_once` at a time; those left out take no time, and carry nothing.
Watched watch(const CtaTurns& turns, std::int64_t at_once, const Until& time, const Until& clocks) {
    Watched watched{0, 0, CtaSample(turns)};
    const auto simulated = [&](const Until& until, std::int64_t begun) {
        if (begun <= watched.begun || watched.left_out == 0) return until(begun);
        return until(watched.begun) + until(begun + watched.left_out) -
               until(watched.begun + watched.left_out);
    };
    for (std::int64_t begun = at_once; begun + watched.left_out <= turns.ctas; begun += at_once) {
        if (!watched.sample.wants(turns.kernel, begun)) continue;
        CtaSnapshot now;
        now.begun = begun;
        now.mark.time = Ticks(simulated(time, begun));
        now.mark.memory_bus = {{"transfer", simulated(clocks, begun)}, {"refresh", begun}};
        const std::int64_t others = watched.sample.look(now);
        if (others == 0 && watched.left_out > 0) continue;
        watched.left_out = others;
        watched.begun = begun;
    }
    return watched;
}

const CtaTurns kTurns{0, 100'000, 1'000, 500, 1};

std::int64_t evenly(std::int64_t ctas) {
    return 1'000 * ctas;
}

}  // namespace

TEST_CASE("CTAs that take as long as each other stand for others after four turns", "[simt]") {
    const Watched watched = watch(kTurns, 10, evenly, evenly);
    CHECK(watched.begun == 3'000);
    REQUIRE(watched.sample.left_out());
    CHECK(watched.sample.left_out()->ctas() == 2'000);
    // Three turns are left at the end, at least: 95,500 have room for 47 times as many.
    CHECK(watched.left_out == 94'000);
    CHECK(watched.sample.left_out()->times == 47);
    CHECK(watched.sample.left_out()->off == Ticks(0));
    CHECK(watched.sample.borne_out());
    CHECK_FALSE(watched.sample.wants(0, 99'000));
    CHECK_FALSE(CtaSample(kTurns).wants(1, 1'000));
}

TEST_CASE("Turns of CTAs say by how much those left out may differ in 19 of 20 cases", "[simt]") {
    // Four turns take 0, 600, 200 and 400 longer than 500,000: a standard deviation of 258.2. They stand 47
    // times over for others; 4.3748 is Student's t (turn_agreement.h): 4.3748 x 258.2 x sqrt(188^2 / 4 +
    // 188).
    const auto longer = [](std::int64_t ctas) {
        return evenly(ctas) + (ctas >= 2'000 ? 600 : 0) + (ctas >= 2'500 ? 200 : 0) +
               (ctas >= 3'000 ? 400 : 0);
    };
    const Watched watched = watch(kTurns, 10, longer, evenly);
    REQUIRE(watched.sample.left_out());
    REQUIRE(watched.sample.left_out()->times == 47);
    CHECK(std::abs(watched.sample.left_out()->off.value() - 107'304) <= 1);
}

TEST_CASE("What CTAs begin at once does not make turns longer", "[simt]") {
    // 132 at a time: turns of 528 and 660 CTAs.
    const Watched watched = watch(kTurns, 132, evenly, evenly);
    REQUIRE(watched.sample.left_out());
    CHECK(watched.sample.left_out()->first.begun == 1'056);
    CHECK(watched.begun == 1'056 + 4 * 528);
}

TEST_CASE("Turns whose ends move are taken in pairs until these tell the mean", "[simt]") {
    // Data of some CTAs are under way: sometimes more of them, by 1 % of a turn.
    const auto moves = [](std::int64_t ctas) { return 1'000 * ctas + (ctas / 500 % 3 - 1) * 5'000; };
    const Watched watched = watch(kTurns, 10, evenly, moves);
    REQUIRE(watched.sample.left_out());
    CHECK(watched.sample.left_out()->ctas() >= 8 * 500);
    CHECK(watched.left_out % watched.sample.left_out()->ctas() == 0);
    CHECK(watched.left_out + watched.begun <= kTurns.ctas - 3 * 500);
    CHECK(watched.sample.borne_out());
}

TEST_CASE("CTAs that differ by chance as turns do stand for none", "[simt]") {
    std::uint64_t state = 2026;
    std::vector<std::int64_t> sums{0};
    for (std::int64_t cta = 0; cta < kTurns.ctas; ++cta) {
        // Long stretches of CTAs take a tenth longer or less.
        if (cta % 2'000 == 0) state = state * 6364136223846793005U + 1442695040888963407U;
        sums.push_back(sums.back() + 900 + static_cast<std::int64_t>(state >> 56));
    }
    const auto time = [&](std::int64_t ctas) { return sums[static_cast<std::size_t>(ctas)]; };
    const Watched watched = watch(kTurns, 10, time, evenly);
    CHECK(watched.left_out == 0);
    CHECK_FALSE(watched.sample.left_out());
    CHECK(watched.begun <= kTurns.ctas / 2 + 1'000);
}

TEST_CASE("CTAs that the last ones do not bear out are told", "[simt]") {
    // The last ninth reads more, or takes longer, by a tenth.
    const auto more = [](std::int64_t ctas) {
        return 1'000 * ctas + std::max<std::int64_t>(0, ctas - 89'000) * 100;
    };
    for (const bool reads : {false, true}) {
        const Watched watched =
            watch(kTurns, 10, reads ? Until(evenly) : Until(more), reads ? Until(more) : Until(evenly));
        CHECK(watched.left_out > 0);
        CHECK_FALSE(watched.sample.borne_out());
    }
}

TEST_CASE("Of several dies as many CTAs are left out of each", "[simt]") {
    CtaTurns turns = kTurns;
    turns.dies = 8;
    const Watched watched = watch(turns, 6, evenly, evenly);
    REQUIRE(watched.sample.left_out());
    CHECK(watched.left_out > 0);
    CHECK(watched.left_out % 8 == 0);
    CHECK(watched.left_out == watched.sample.left_out()->times * watched.sample.left_out()->ctas());
}

TEST_CASE("A kernel of few turns has no room for others", "[simt]") {
    CtaTurns turns = kTurns;
    turns.ctas = 4'500;
    const Watched watched = watch(turns, 10, evenly, evenly);
    CHECK(watched.left_out == 0);
    CHECK_FALSE(watched.sample.left_out());
}

}  // namespace systole::simt
