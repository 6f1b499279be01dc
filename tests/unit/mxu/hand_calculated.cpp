// SPDX-License-Identifier: Apache-2.0
// Five lives of small arrays over stationary tiles, drawn by hand.
#include <catch2/catch.hpp>

#include "tests/unit/mxu/drawing.h"

namespace systole {

using test::at;
using test::check_drawing;
using test::Drawing;

TEST_CASE("without a shadow register a tile waits until the pass before has drained: 2R + C + T - 2 each") {
    const Drawing drawing{
        {.rows = 2, .cols = 2, .shadow_register = false},
        {{"ab", {.vectors = 2}, {2, 2}, {1, 2, 3, 4}, at(0), {{at(0), at(2), at(2), at(4), at(6)}, 8, 0}},
         {"AB", {.vectors = 2}, {2, 2}, {5, 6, 7, 8}, at(0), {{at(6), at(8), at(8), at(10), at(12)}, 8, 0}}},
        // 0  1  2  3  4  5  6  7  8  9 10 11
        ".w .w a. b. .. .. .w .w A. B. .. ..\n"    // PE(0,0)
        ".. .w .w a. b. .. .. .w .w A. B. ..\n"    // PE(0,1)
        ".. .w .. a. b. .. .. .w .. A. B. ..\n"    // PE(1,0)
        ".. .. .w .. a. b. .. .. .w .. A. B.\n"};  // PE(1,1)
    check_drawing(drawing);
}

TEST_CASE("with a shadow register the next tile shifts in behind a pass of T > R, and passes follow in T") {
    const Drawing drawing{
        {.rows = 2, .cols = 2},
        {{"abc", {.vectors = 3}, {2, 2}, {1, 2, 3, 4}, at(0), {{at(0), at(2), at(2), at(5), at(7)}, 12, 0}},
         {"ABC", {.vectors = 3}, {2, 2}, {5, 6, 7, 8}, at(0), {{at(2), at(4), at(5), at(8), at(10)}, 12, 0}}},
        // 0  1  2  3  4  5  6  7  8  9
        ".w .w aw bw c. A. B. C. .. ..\n"    // PE(0,0)
        ".. .w .w aw bw c. A. B. C. ..\n"    // PE(0,1)
        ".. .w .. aw b. c. A. B. C. ..\n"    // PE(1,0)
        ".. .. .w .. aw b. c. A. B. C.\n"};  // PE(1,1)
    check_drawing(drawing);
}

TEST_CASE("with a shadow register passes of T < R follow in R, the time of a shift") {
    const Drawing drawing{
        {.rows = 2, .cols = 2},
        {{"a", {.vectors = 1}, {2, 2}, {1, 2, 3, 4}, at(0), {{at(0), at(2), at(2), at(3), at(5)}, 4, 0}},
         {"A", {.vectors = 1}, {2, 2}, {5, 6, 7, 8}, at(0), {{at(2), at(4), at(4), at(5), at(7)}, 4, 0}}},
        // 0  1  2  3  4  5  6
        ".w .w aw .w A. .. ..\n"    // PE(0,0)
        ".. .w .w aw .w A. ..\n"    // PE(0,1)
        ".. .w .. aw .. A. ..\n"    // PE(1,0)
        ".. .. .w .. aw .. A.\n"};  // PE(1,1)
    check_drawing(drawing);
}

TEST_CASE(
    "a pass onto rows of a slower one waits for the row that is too young: here c, fed in 5, again in 11") {
    // Every 3/2 cycles: a, b, c enter in 2, 3, 5; the port is free in 2 + ceil(9/2) = 7. With a latency of 6,
    // A may follow from 8, B (one later) from 9 and C (two later) from 11: start in 9.
    const Drawing drawing{{.rows = 2, .cols = 2, .accumulator_latency = Cycles(6)},
                          {{"abc",
                            {.vectors = 3, .cycles_per_vector = {3, 2}, .last_use = false},
                            {2, 2},
                            {1, 2, 3, 4},
                            at(0),
                            {{at(0), at(2), at(2), at(7), at(8)}, 12, 0}},
                           {"ABC",
                            {.vectors = 3, .new_tile = false, .accumulate = true},
                            {2, 2},
                            {},
                            at(0),
                            {{at(0), at(2), at(9), at(12), at(14)}, 12, 0}}},
                          // 0  1  2  3  4  5  6  7  8  9 10 11 12 13
                          ".w .w a. b. .. c. .. .. .. A. B. C. .. ..\n"    // PE(0,0)
                          ".. .w .w a. b. .. c. .. .. .. A. B. C. ..\n"    // PE(0,1)
                          ".. .w .. a. b. .. c. .. .. .. A. B. C. ..\n"    // PE(1,0)
                          ".. .. .w .. a. b. .. c. .. .. .. A. B. C.\n"};  // PE(1,1)
    check_drawing(drawing);
}

TEST_CASE(
    "a tile of 3 x 2 on an array of 4 x 4 takes the time of a whole one, and 20 of 32 slots are padding") {
    // The zeros of row 3 come down first, unseen; columns 2 and 3 get nothing but zeros.
    const Drawing drawing{{.rows = 4, .cols = 4, .shadow_register = false},
                          {{"ab",
                            {.vectors = 2},
                            {3, 2},
                            {1, 2, 3, 4, 5, 6},
                            at(1),
                            {{at(1), at(5), at(5), at(7), at(13)}, 12, 20}}},
                          // 0  1  2  3  4  5  6  7  8  9 10 11 12
                          ".. .. .w .w .w a. b. .. .. .. .. .. ..\n"    // PE(0,0)
                          ".. .. .. .w .w .w a. b. .. .. .. .. ..\n"    // PE(0,1)
                          ".. .. .. .. .. .. .. a. b. .. .. .. ..\n"    // PE(0,2)
                          ".. .. .. .. .. .. .. .. a. b. .. .. ..\n"    // PE(0,3)
                          ".. .. .. .w .w .. a. b. .. .. .. .. ..\n"    // PE(1,0)
                          ".. .. .. .. .w .w .. a. b. .. .. .. ..\n"    // PE(1,1)
                          ".. .. .. .. .. .. .. .. a. b. .. .. ..\n"    // PE(1,2)
                          ".. .. .. .. .. .. .. .. .. a. b. .. ..\n"    // PE(1,3)
                          ".. .. .. .. .w .. .. a. b. .. .. .. ..\n"    // PE(2,0)
                          ".. .. .. .. .. .w .. .. a. b. .. .. ..\n"    // PE(2,1)
                          ".. .. .. .. .. .. .. .. .. a. b. .. ..\n"    // PE(2,2)
                          ".. .. .. .. .. .. .. .. .. .. a. b. ..\n"    // PE(2,3)
                          ".. .. .. .. .. .. .. .. 0. 0. .. .. ..\n"    // PE(3,0)
                          ".. .. .. .. .. .. .. .. .. 0. 0. .. ..\n"    // PE(3,1)
                          ".. .. .. .. .. .. .. .. .. .. 0. 0. ..\n"    // PE(3,2)
                          ".. .. .. .. .. .. .. .. .. .. .. 0. 0.\n"};  // PE(3,3)
    check_drawing(drawing);
}

}  // namespace systole
