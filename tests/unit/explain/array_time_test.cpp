// SPDX-License-Identifier: Apache-2.0
// Formulas with their numbers put in, against a register-accurate array asked cycle by cycle.
#include "models/devices/systolic/explain/array_time.h"

#include <catch2/catch.hpp>

#include "tests/unit/explain/random_array.h"
#include "tests/unit/explain/sum.h"

namespace systole::systolic {

using test::RandomArray;
using test::worked_out;

TEST_CASE("sums are worked out as people do it") {
    CHECK(worked_out("2 x 4 + 4 + 6 - 2") == 16);
    CHECK(worked_out("2 x 4 + 4 - 2 + 6 + 3 x max(6, 4)") == 34);
    CHECK(worked_out("3 x (4 + 4 - 2) + 1 x 1,024 + 2 x max(1,000, 4)") == 18 + 1024 + 2000);
    CHECK_THROWS(worked_out("2 x T"));
    CHECK_THROWS(worked_out("2 4"));
}

TEST_CASE("the textbook's passes: formulas in symbols, in numbers, and their cycles") {
    const ArraySpec ws{.rows = 4, .cols = 3};
    CHECK(alone(ws, 6).symbols == "2R + C + T - 2");
    CHECK(alone(ws, 6).numbers == "2 x 4 + 3 + 6 - 2");
    CHECK(alone(ws, 6).cycles == 15);
    CHECK(back_to_back(ws, 6).cycles == 6);
    CHECK(back_to_back(ws, 2).cycles == 4);
    ArraySpec serial = ws;
    serial.shadow_register = false;
    CHECK(back_to_back(serial, 6).cycles == 15);
    ArraySpec os = ws;
    os.dataflow = Dataflow::OutputStationary;
    CHECK(alone(os, 6).cycles == 15);
    os.result_shift = false;
    CHECK(alone(os, 6).symbols == "R + C + T - 2");
    CHECK(alone(os, 6).cycles == 11);
    CHECK(back_to_back(os, 2).cycles == 4);  // a bus takes a row of results a cycle
}

TEST_CASE("passes in a row, of each dataflow, by hand") {
    // T = 6, 2, 2 on 4 x 4. ws: 4 in, then 6 and 4 (2 hides no shift of 4), then 2 and 7 to the last result.
    const std::vector<ArrayPass> passes{{{}, 6}, {{}, 2}, {{}, 2}};
    ArraySpec array{.rows = 4, .cols = 4};
    CHECK(all_passes(array, passes).cycles == 4 + 6 + 4 + 2 + 6);
    CHECK(all_passes(array, passes).numbers == "2 x 4 + 4 - 2 + 2 + 1 x max(6, 4) + 1 x max(2, 4)");
    // os: 6, then twice 4, because results of 4 rows leave behind each; the last ones 4 + 6 later.
    array.dataflow = Dataflow::OutputStationary;
    CHECK(all_passes(array, passes).cycles == 6 + 4 + 4 + 6 + 4);
    array.shadow_register = false;
    CHECK(all_passes(array, passes).cycles == 3 * 10 + 6 + 2 + 2);
    // A tile that is kept counts once, with the streams of both its passes.
    const std::vector<ArrayPass> kept{{{}, 2, true, false}, {{}, 3, false}, {{}, 1}};
    array = {.rows = 4, .cols = 4};
    CHECK(all_passes(array, kept).cycles == 4 + 5 + 1 + 6);
}

TEST_CASE("folds wait for the accumulators' latency, and the formula leaves that out") {
    const ArraySpec array{.rows = 2, .cols = 2, .accumulator_latency = Cycles(10)};
    const UnitTime time = unit_time(array, {{{}, 3}, {{}, 3, true, true, true}});
    CHECK(time.formula.cycles == 2 + 3 + 3 + 2);
    CHECK(time.accumulator_waits == 10 - 3);
    CHECK(time.cycles() == time.formula.cycles + 7);
}

TEST_CASE("a vector that keeps its PEs for two cycles doubles T, but for the last one's second cycle") {
    const ArraySpec ws{.rows = 4, .cols = 3};
    CHECK(alone(ws, 6, 2).symbols == "2R + C + 2T - 3");
    CHECK(alone(ws, 6, 2).cycles ==
          4 + 10 + 4 + 3 - 1);  // shift; the last enters 10 after the first; through
    CHECK(back_to_back(ws, 6, 2).symbols == "max(2T, R)");
    CHECK(back_to_back(ws, 6, 2).cycles == 12);
    CHECK(back_to_back(ws, 1, 2).cycles == 4);
}

TEST_CASE("no passes take no time") {
    CHECK(unit_time({}, {}).cycles() == 0);
}

TEST_CASE("what is printed is what the registers do, for random arrays and passes") {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        std::mt19937_64 random(seed);
        const RandomArray drawn = test::random_array(random, 9);
        INFO("seed " << seed << ": " << to_string(drawn));
        std::vector<PassTimes> sent;
        const PassTimes last =
            send_through(drawn.array, drawn.passes, [&](const PassTimes& times) { sent.push_back(times); });
        REQUIRE(sent == test::sent_through_grid(drawn));
        REQUIRE(last == sent.back());

        const UnitTime time = unit_time(drawn.array, drawn.passes);
        REQUIRE(time.cycles() == last.done.value());
        REQUIRE(worked_out(time.formula.numbers) == time.formula.cycles);

        const std::int64_t vectors = drawn.passes.front().vectors, each = drawn.passes.front().each;
        const ArrayPass twin{.vectors = vectors, .each = each};
        RandomArray twins{drawn.array, {twin, twin}};
        const std::vector<PassTimes> pair = test::sent_through_grid(twins);
        const Formula one = alone(drawn.array, vectors, each),
                      step = back_to_back(drawn.array, vectors, each);
        REQUIRE(one.cycles == pair[0].done.value());
        REQUIRE(step.cycles == (pair[1].start - pair[0].start).value());
        REQUIRE(worked_out(one.numbers) == one.cycles);
        REQUIRE(worked_out(step.numbers) == step.cycles);
    }
}

}  // namespace systole::systolic
