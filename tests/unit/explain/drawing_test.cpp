// SPDX-License-Identifier: Apache-2.0
// Drawings against the registers of the PE grid, and a few by hand.
#include "models/devices/systolic/explain/drawing.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "models/devices/systolic/explain/array_time.h"
#include "tests/unit/explain/random_array.h"

namespace systole::systolic {
namespace {

std::size_t widest(const std::string& text) {
    std::istringstream lines(text);
    std::size_t width = 0;
    for (std::string line; std::getline(lines, line);) width = std::max(width, line.size());
    return width;
}

/// One full tile alone on the array, and the cycles in which registers of its PEs worked.
struct Watched {
    std::map<std::pair<int, int>, Interval> multiplies;
    std::map<std::pair<int, int>, int> multiplied, shadow_changes;
};

Watched watch(const ArraySpec& array, std::int64_t vectors) {
    test::RandomArray drawn{array, {{{array.rows, array.cols}, vectors}}};
    Watched seen;
    std::map<std::pair<int, int>, int> shadow;
    test::sent_through_grid(drawn, [&](GridEngine& grid) {
        const Cycles cycle = grid.now() - Cycles(1);  // the one that has just happened
        for (int row = 0; row < array.rows; ++row)
            for (int col = 0; col < array.cols; ++col) {
                const auto pe = grid.pe(row, col);
                const std::pair at{row, col};
                if (shadow[at] != pe.shadow) ++seen.shadow_changes[at];
                shadow[at] = pe.shadow;
                if (!pe.valid) continue;
                if (seen.multiplied[at]++ == 0) seen.multiplies[at].begin = cycle;
                seen.multiplies[at].end = cycle + Cycles(1);
            }
    });
    return seen;
}

}  // namespace

TEST_CASE("PEs multiply in the cycles that are drawn, and every row takes part in the shift as drawn") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed);
        test::RandomArray drawn = test::random_array(random, 7);
        ArraySpec& array = drawn.array;
        const std::int64_t vectors = drawn.passes[0].vectors;
        INFO("seed " << seed << ": " << to_string(drawn));
        const PassTimes times = send_through(array, {{{array.rows, array.cols}, vectors}});
        const Watched seen = watch(array, vectors);
        for (int row = 0; row < array.rows; ++row)
            for (int col = 0; col < array.cols; ++col) {
                INFO("PE(" << row << "," << col << ")");
                const PeTimes pe = pe_times(array, times, row, col);
                REQUIRE(seen.multiplied.at({row, col}) == vectors);
                REQUIRE(pe.multiplies.begin == seen.multiplies.at({row, col}).begin);
                REQUIRE(pe.multiplies.end == seen.multiplies.at({row, col}).end);
                REQUIRE(pe.moves.end <= times.done);
                if (array.dataflow == Dataflow::OutputStationary) continue;
                // Every cycle of the shift brings another value; the tile's rows all differ.
                REQUIRE((pe.moves.end - pe.moves.begin).value() == seen.shadow_changes.at({row, col}));
            }
    }
}

TEST_CASE("a pass on a small array is drawn PE by PE and cycle by cycle") {
    const ArraySpec array{.rows = 3, .cols = 2};
    const PassTimes times = send_through(array, {{{3, 2}, 4}});
    CHECK(draw_pass(array, times) ==
          "   cycle     0  1  2  3  4  5  6  7  8  9\n"
          "   PE(0,0)   b  b  b  0  1  2  3  .  .  .\n"
          "   PE(0,1)   .  b  b  b  0  1  2  3  .  .\n"
          "   PE(1,0)   .  b  b  .  0  1  2  3  .  .\n"
          "   PE(1,1)   .  .  b  b  .  0  1  2  3  .\n"
          "   PE(2,0)   .  .  b  .  .  0  1  2  3  .\n"
          "   PE(2,1)   .  .  .  b  .  .  0  1  2  3\n"
          "   b: a weight moves in; a number: that vector is multiplied; .: no vector.\n");
}

TEST_CASE("results leave an output-stationary array bottom row first") {
    ArraySpec array{.rows = 2, .cols = 2, .dataflow = Dataflow::OutputStationary};
    CHECK(draw_pass(array, send_through(array, {{{2, 2}, 3}})) ==
          "   cycle     0  1  2  3  4  5  6\n"
          "   PE(0,0)   0  1  2  .  r  .  .\n"
          "   PE(0,1)   .  0  1  2  .  r  .\n"
          "   PE(1,0)   .  0  1  2  r  r  .\n"
          "   PE(1,1)   .  .  0  1  2  r  r\n"
          "   r: a result moves down and out; a number: that vector is multiplied; .: no vector.\n");
    array.result_shift = false;
    CHECK(draw_pass(array, send_through(array, {{{2, 2}, 3}})) ==
          "   cycle     0  1  2  3  4\n"
          "   PE(0,0)   0  1  2  .  .\n"
          "   PE(0,1)   .  0  1  2  .\n"
          "   PE(1,0)   .  0  1  2  .\n"
          "   PE(1,1)   .  .  0  1  2\n"
          "   a number: that vector is multiplied; .: no vector.\n");
}

TEST_CASE("every dataflow says what lies where") {
    ArraySpec array{.rows = 2, .cols = 2};
    CHECK_THAT(draw_array(array), Catch::Contains("a --> | b0,0 | b0,1 |"));
    CHECK_THAT(draw_array(array), Catch::Contains("a --> | b1,0 | b1,1 |"));
    array.dataflow = Dataflow::InputStationary;
    CHECK_THAT(draw_array(array), Catch::Contains("b --> | a0,0 | a1,0 |"));  // K down, M across
    array.dataflow = Dataflow::OutputStationary;
    CHECK_THAT(draw_array(array), Catch::Contains("a --> | out0,0 | out0,1 |"));
}

TEST_CASE("no drawing is wider than a page, however large the array and long the pass") {
    for (const int rows : {1, 2, 5, 128, 32767})
        for (const int cols : {1, 3, 256, 32767})
            for (const std::int64_t vectors :
                 {std::int64_t{1}, std::int64_t{500}, std::int64_t{2'000'000'000}})
                for (const Dataflow dataflow :
                     {Dataflow::WeightStationary, Dataflow::OutputStationary, Dataflow::InputStationary}) {
                    const ArraySpec array{.rows = rows,
                                          .cols = cols,
                                          .dataflow = dataflow,
                                          .accumulator_rows = std::max<std::int64_t>(vectors, rows)};
                    const PassTimes times = send_through(array, {{{}, vectors}});
                    CHECK(widest(draw_array(array)) <= 100);
                    CHECK(widest(draw_pass(array, times)) <= 100);
                    CHECK(widest(draw_passes(array, {times, times})) <= 100);
                }
}

TEST_CASE("passes behind each other are bars on one time axis") {
    const ArraySpec array{.rows = 4, .cols = 4};
    std::vector<PassTimes> times;
    send_through(array, {{{}, 6}, {{}, 6}}, [&](const PassTimes& t) { times.push_back(t); });
    CHECK(draw_passes(array, times) ==
          "            0         10        20\n"
          "   pass 0   bbbb######------\n"
          "   pass 1       bbbb  ######------\n"
          "   b: a tile moves in; #: streams; -: drains.\n");
}

}  // namespace systole::systolic
