// SPDX-License-Identifier: Apache-2.0
// Five lives of small arrays, drawn by hand. Both engines must give the written times, and every PE of the
// grid must do in every cycle what the drawing shows. A cell is two characters:
//   the vector multiplied (its name, '0' in a row of padding, '.' none), then 'w' if a weight moved in, else
//   '.'.
// Vector names are also their values: every activation of vector 'a' is 97.
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "models/devices/systolic/mxu/pe_grid.h"
#include "models/devices/systolic/mxu/tile_engine.h"

namespace systole {

namespace {

struct DrawnPass {
    std::string vectors;
    Pass pass;
    Tile tile;
    std::vector<std::int8_t> weights;  ///< row-major
    Cycles arrives;
    PassReport expected;
};

struct Drawing {
    ArraySpec array;
    std::vector<DrawnPass> passes;
    std::string pes;  ///< one line per PE, row by row; one cell per cycle
};

Cycles at(std::int64_t cycle) {
    return Cycles(cycle);
}

void start_what_can(MatrixEngine& engine, const Drawing& drawing, std::size_t& next,
                    const std::function<void(const DrawnPass&)>& start) {
    while (next < drawing.passes.size() && engine.earliest_start(drawing.passes[next].pass) == engine.now())
        start(drawing.passes[next++]);
}

void check_reports(MatrixEngine& engine, const Drawing& drawing) {
    for (const DrawnPass& pass : drawing.passes) {
        const auto report = engine.take_finished();
        REQUIRE(report);
        CHECK(report->times.shift_start.value() == pass.expected.times.shift_start.value());
        CHECK(report->times.shift_end.value() == pass.expected.times.shift_end.value());
        CHECK(report->times.start.value() == pass.expected.times.start.value());
        CHECK(report->times.stream_end.value() == pass.expected.times.stream_end.value());
        CHECK(report->times.done.value() == pass.expected.times.done.value());
        CHECK(report->useful_slots == pass.expected.useful_slots);
        CHECK(report->padding_slots == pass.expected.padding_slots);
    }
}

void check_tile_engine(const Drawing& drawing) {
    TileEngine engine(drawing.array);
    for (const DrawnPass& pass : drawing.passes)
        if (pass.pass.new_tile) engine.tile_arrives(pass.arrives, pass.tile);
    std::size_t next = 0;
    for (; engine.now() < at(40); engine.advance(engine.now() + at(1)))
        start_what_can(engine, drawing, next, [&](const DrawnPass& pass) { engine.start(pass.pass); });
    check_reports(engine, drawing);
}

/// What PE(row, col) did in the last cycle, given the weight at the end of its shift path before.
std::string cell(const PeState<std::int8_t, std::int32_t>& pe, std::int8_t weight_before) {
    const char vector = !pe.valid ? '.' : pe.moving == 0 ? '0' : static_cast<char>(pe.moving);
    return {vector, pe.shadow == weight_before ? '.' : 'w'};
}

void check_grid(const Drawing& drawing) {
    PeGrid<Int8Arithmetic> grid(drawing.array);
    for (const DrawnPass& pass : drawing.passes)
        if (pass.pass.new_tile) grid.tile_arrives(pass.arrives, pass.tile, {pass.tile.cols, pass.weights});
    const int rows = drawing.array.rows, cols = drawing.array.cols;
    std::vector<std::string> seen(rows * cols);
    std::vector<std::int8_t> weight(rows * cols);
    std::size_t next = 0;
    const Cycles end = drawing.passes.back().expected.times.done;
    while (grid.now() < end) {
        start_what_can(grid, drawing, next, [&](const DrawnPass& pass) {
            Matrix<std::int8_t> activations{pass.tile.rows, {}};
            for (const char vector : pass.vectors)
                activations.values.insert(activations.values.end(), pass.tile.rows,
                                          static_cast<std::int8_t>(vector));
            grid.start(pass.pass, activations, {});
        });
        grid.advance(grid.now() + at(1));
        for (int n = 0; n < rows * cols; ++n) {
            const auto pe = grid.pe(n / cols, n % cols);
            if (!seen[n].empty()) seen[n] += ' ';
            seen[n] += cell(pe, weight[n]);
            weight[n] = pe.shadow;
        }
    }
    std::string all;
    for (const std::string& line : seen) all += line + "\n";
    CHECK(all == drawing.pes);
    check_reports(grid, drawing);
}

}  // namespace

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
    check_tile_engine(drawing);
    check_grid(drawing);
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
    check_tile_engine(drawing);
    check_grid(drawing);
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
    check_tile_engine(drawing);
    check_grid(drawing);
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
    check_tile_engine(drawing);
    check_grid(drawing);
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
    check_tile_engine(drawing);
    check_grid(drawing);
}

}  // namespace systole
