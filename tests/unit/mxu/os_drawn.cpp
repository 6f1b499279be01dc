// SPDX-License-Identifier: Apache-2.0
// Lives of small output-stationary arrays, drawn by hand.
#include <catch2/catch.hpp>

#include "tests/unit/mxu/drawing.h"

namespace systole {

using test::at;
using test::check_drawing;
using test::Drawing;

namespace {

constexpr auto kOs = Dataflow::OutputStationary;

}  // namespace

TEST_CASE("results shift out behind the next tile's wave, bottom row first: passes follow in T = R") {
    const Drawing drawing{
        {.rows = 2, .cols = 2, .dataflow = kOs},
        {{"ab", {.vectors = 2}, {2, 2}, {}, at(0), {{at(3), at(5), at(0), at(2), at(6)}, 8, 0}},
         {"AB",
          {.vectors = 2, .accumulate = true},
          {2, 2},
          {},
          at(0),
          {{at(5), at(7), at(2), at(4), at(8)}, 8, 0}}},
        // 0  1  2  3  4  5  6  7
        "a. br A. Br .. .. .. ..\n"   // PE(0,0): 'b' is its last product, the sum becomes its result
        ".. a. br A. Br .. .. ..\n"   // PE(0,1)
        ".. a. br Ar Br .r .. ..\n"   // PE(1,0): hands its own result out in 3, and takes the one above
        ".. .. a. br Ar Br .r ..\n",  // PE(1,1)
        {97 + 98 + 65 + 66, 97 + 98 + 65 + 66, 2 * (97 + 98 + 65 + 66), 2 * (97 + 98 + 65 + 66)}};
    check_drawing(drawing);
}

TEST_CASE("tiles of T < R follow in R, because a column has one way out") {
    const Drawing drawing{
        {.rows = 3, .cols = 1, .dataflow = kOs},
        {{"a", {.vectors = 1}, {3, 1}, {}, at(0), {{at(3), at(6), at(0), at(1), at(6)}, 3, 0}},
         {"A",
          {.vectors = 1, .accumulator_row = 3},
          {3, 1},
          {},
          at(0),
          {{at(6), at(9), at(3), at(4), at(9)}, 3, 0}}},
        // 0  1  2  3  4  5  6  7  8
        "ar .. .. Ar .. .. .. .. ..\n"   // PE(0,0)
        ".. ar .. .r Ar .. .r .. ..\n"   // PE(1,0)
        ".. .. ar .r .r Ar .r .r ..\n",  // PE(2,0)
        {97, 2 * 97, 3 * 97, 65, 2 * 65, 3 * 65}};
    check_drawing(drawing);
}

TEST_CASE("two passes on one tile go on with its sums; a tile of 2 x 1 leaves a column of padding") {
    const Drawing drawing{{.rows = 2, .cols = 2, .dataflow = kOs},
                          {{"a",
                            {.vectors = 1, .last_use = false},
                            {2, 1},
                            {},
                            at(0),
                            {{at(3), at(3), at(0), at(1), at(3)}, 2, 2}},
                           {"bc",
                            {.vectors = 2, .cycles_per_vector = {3, 2}, .new_tile = false},
                            {2, 1},
                            {},
                            at(0),
                            {{at(4), at(6), at(1), at(4), at(7)}, 4, 4}}},
                          // 0  1  2  3  4  5  6
                          "a. b. cr .. .. .. ..\n"   // PE(0,0)
                          ".. 0. 0. 0. .. .. ..\n"   // PE(0,1)
                          ".. a. b. cr .r .. ..\n"   // PE(1,0)
                          ".. .. 0. 0. 0. .. ..\n",  // PE(1,1)
                          {97 + 98 + 99, 0, 2 * (97 + 98 + 99), 0}};
    check_drawing(drawing);
}

TEST_CASE(
    "without a shadow register and over buses a tile follows when the one before is done: T + R + C - 2") {
    const Drawing drawing{
        {.rows = 2, .cols = 2, .dataflow = kOs, .shadow_register = false, .result_shift = false},
        {{"ab", {.vectors = 2}, {2, 2}, {}, at(0), {{at(4), at(4), at(0), at(2), at(4)}, 8, 0}},
         {"AB",
          {.vectors = 2, .accumulator_row = 1},
          {1, 2},
          {},
          at(0),
          {{at(8), at(8), at(4), at(6), at(8)}, 4, 4}}},
        // 0  1  2  3  4  5  6  7
        "a. b. .. .. A. B. .. ..\n"   // PE(0,0)
        ".. a. b. .. .. A. B. ..\n"   // PE(0,1)
        ".. a. b. .. .. A. B. ..\n"   // PE(1,0): what it computes of 'A' and 'B' is padding and dropped
        ".. .. a. b. .. .. A. B.\n",  // PE(1,1)
        {97 + 98, 97 + 98, 65 + 66, 65 + 66, 0, 0}};
    check_drawing(drawing);
}

TEST_CASE(
    "a tile that adds onto young rows waits for the row that is too young, as the rows leave column 0") {
    // Over its bus, row 1 of the first tile leaves in cycle 1. Row 0 of the second goes to the same
    // accumulator row in the cycle in which it is fed: not before 1 + 6.
    const Drawing drawing{
        {.rows = 2, .cols = 1, .dataflow = kOs, .result_shift = false, .accumulator_latency = Cycles(6)},
        {{"a", {.vectors = 1}, {2, 1}, {}, at(0), {{at(2), at(2), at(0), at(1), at(2)}, 2, 0}},
         {"A",
          {.vectors = 1, .accumulate = true, .accumulator_row = 1},
          {2, 1},
          {},
          at(0),
          {{at(9), at(9), at(7), at(8), at(9)}, 2, 0}}},
        // 0  1  2  3  4  5  6  7  8
        "a. .. .. .. .. .. .. A. ..\n"   // PE(0,0)
        ".. a. .. .. .. .. .. .. A.\n",  // PE(1,0)
        {97, 2 * 97 + 65, 2 * 65}};
    check_drawing(drawing);
}

}  // namespace systole
