// SPDX-License-Identifier: Apache-2.0
// When output-stationary passes start and are done: the closed form against the published laws and a slow
// twin.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "models/devices/systolic/mxu/os_tile_engine.h"
#include "tests/unit/mxu/steps.h"

namespace systole {

using test::finish_next;
using test::start_early;

namespace {

constexpr auto kOs = Dataflow::OutputStationary;

}  // namespace

TEST_CASE("shifting the results out takes R cycles more than multiplying: T + 2R + C - 2") {
    for (const std::int64_t vectors : {1, 3, 100}) {
        OsTileEngine engine({.rows = 8, .cols = 5, .dataflow = kOs, .shadow_register = false});
        for (int fold = 1; fold <= 3; ++fold) {
            engine.tile_arrives(engine.now(), {});
            start_early(engine, {.vectors = vectors});
            const PassTimes times = finish_next(engine).times;
            CHECK(times.done.value() == fold * (vectors + 2 * 8 + 5 - 2));
            CHECK(times.shift_end - times.shift_start == Cycles(8));
            CHECK(times.done - times.shift_end == Cycles(5 - 1));
        }
    }
}

TEST_CASE("with a second register a tile costs max(T, R) once the array is full") {
    for (const bool result_shift : {true, false}) {
        for (const std::int64_t vectors : {1, 7, 8, 9, 100}) {
            OsTileEngine engine({.rows = 8, .cols = 5, .dataflow = kOs, .result_shift = result_shift});
            for (int n = 0; n < 4; ++n) engine.tile_arrives(Cycles(0), {});
            std::vector<std::int64_t> starts;
            for (int n = 0; n < 4; ++n) starts.push_back(start_early(engine, {.vectors = vectors}));
            const std::int64_t cost = std::max<std::int64_t>(vectors, 8);
            CHECK(starts == std::vector<std::int64_t>{0, cost, 2 * cost, 3 * cost});
        }
    }
}

TEST_CASE("passes on a kept tile follow at once, and only its last one minds the way out") {
    OsTileEngine engine({.rows = 8, .cols = 5, .dataflow = kOs});
    engine.tile_arrives(Cycles(0), {});
    engine.tile_arrives(Cycles(0), {});
    CHECK(start_early(engine, {.vectors = 1}) == 0);  // the last vectors of tiles: 0, then 8 at the earliest
    CHECK(start_early(engine, {.vectors = 2, .last_use = false}) == 1);
    CHECK(start_early(engine, {.vectors = 3, .new_tile = false, .last_use = false}) == 3);
    CHECK(start_early(engine, {.vectors = 2, .new_tile = false}) == 7);  // feeds in 7 and 8
}

TEST_CASE("an output tile is known from its arrival on and in the array once its first pass has started") {
    OsTileEngine engine({.rows = 4, .cols = 4, .dataflow = kOs});
    CHECK(engine.earliest_start({}) == kNever);
    CHECK(engine.next_event() == kNever);
    engine.tile_arrives(Cycles(13), {});
    CHECK(engine.earliest_start({}) == Cycles(13));
    engine.advance(Cycles(13));
    CHECK(engine.tiles_shifted() == 0);
    engine.start({});
    CHECK(engine.tiles_shifted() == 1);
}

TEST_CASE("the rule for rows that two output tiles write, in closed form, is that of checking row by row") {
    const std::uint64_t seed = 78;
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto draw = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (int n = 0; n < 5000; ++n) {
        const int rows = static_cast<int>(draw(1, 6));
        const std::int64_t latency = draw(1, 20);
        const bool result_shift = draw(0, 1) == 1;
        OsTileEngine engine({.rows = rows,
                             .cols = 1,
                             .dataflow = kOs,
                             .result_shift = result_shift,
                             .accumulator_latency = Cycles(latency),
                             .accumulator_rows = 100});
        std::vector<std::int64_t> left(100, -1'000'000);  // when the last result for a row left column 0
        std::int64_t port_free = 0, way_free = 0;
        for (int k = 0; k < 6; ++k) {
            const Tile tile{static_cast<int>(draw(1, rows)), 1};
            const std::int64_t rate = draw(0, 1) == 1 ? draw(1, 9) : 1;
            const Pass pass{.vectors = draw(1, 8),
                            .cycles_per_vector = {rate, 1},
                            .accumulate = draw(0, 3) > 0,
                            .accumulator_row = draw(0, 7)};
            const std::int64_t last = (pass.vectors - 1) * rate;
            const auto leaves = [&](std::int64_t start, int row) {
                return start + last + (result_shift ? 2 * rows - 1 - row : row);
            };
            std::int64_t expected = std::max(port_free, way_free - last);
            for (int row = 0; pass.accumulate && row < tile.rows; ++row)
                while (leaves(expected, row) < left[pass.accumulator_row + row] + latency) ++expected;
            engine.tile_arrives(engine.now(), tile);
            REQUIRE(start_early(engine, pass) == expected);
            for (int row = 0; row < tile.rows; ++row)
                left[pass.accumulator_row + row] = leaves(expected, row);
            port_free = expected + pass.vectors * rate;
            way_free = expected + last + rows;
        }
    }
}

}  // namespace systole
