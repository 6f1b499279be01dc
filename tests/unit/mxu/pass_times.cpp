// SPDX-License-Identifier: Apache-2.0
// The published laws of pass times, and the tile engine's answers one cycle before and at a deadline.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "models/devices/systolic/mxu/grid_engine.h"
#include "models/devices/systolic/mxu/tile_engine.h"
#include "tests/unit/mxu/steps.h"

namespace systole {

using test::finish_next;
using test::start_early;

TEST_CASE(
    "a fold without double buffering takes 2R + C + T - 2 (ws, is) or T + R + C - 2 (os), as in SCALE-Sim") {
    for (const Dataflow dataflow :
         {Dataflow::WeightStationary, Dataflow::InputStationary, Dataflow::OutputStationary}) {
        const bool os = dataflow == Dataflow::OutputStationary;
        for (const auto& [rows, cols, vectors] : std::vector<std::array<std::int64_t, 3>>{
                 {1, 1, 1}, {8, 8, 100}, {16, 32, 3}, {32, 16, 1}, {128, 128, 1}, {128, 128, 3136}}) {
            const auto engine = make_tile_engine({.rows = static_cast<int>(rows),
                                                  .cols = static_cast<int>(cols),
                                                  .dataflow = dataflow,
                                                  .shadow_register = false,
                                                  .result_shift = false,
                                                  .accumulator_latency = Cycles(1),
                                                  .accumulator_rows = 4096});
            const std::int64_t fold_cycles = (os ? rows : 2 * rows) + cols + vectors - 2;
            for (int fold = 1; fold <= 3; ++fold) {
                INFO(to_string(dataflow) << ", " << rows << " x " << cols << ", T = " << vectors);
                engine->tile_arrives(engine->now(), {});
                start_early(*engine, {.vectors = vectors});
                CHECK(finish_next(*engine).times.done.value() == fold * fold_cycles);
            }
        }
    }
}

TEST_CASE("with double-buffered weights a pass costs max(T, R) once the array is full") {
    for (const std::int64_t vectors : {1, 7, 8, 9, 100}) {
        TileEngine engine({.rows = 8, .cols = 5, .accumulator_latency = Cycles(1), .accumulator_rows = 128});
        for (int n = 0; n < 4; ++n) engine.tile_arrives(Cycles(0), {});
        std::vector<std::int64_t> starts;
        for (int n = 0; n < 4; ++n) starts.push_back(start_early(engine, {.vectors = vectors}));
        const std::int64_t cost = std::max<std::int64_t>(vectors, 8);
        CHECK(starts == std::vector<std::int64_t>{8, 8 + cost, 8 + 2 * cost, 8 + 3 * cost});
    }
}

TEST_CASE("a pass without a tile on its way can never start, and a tile makes it start R cycles later") {
    TileEngine engine({.rows = 4, .cols = 4});
    CHECK(engine.earliest_start({}) == kNever);
    CHECK(engine.next_event() == kNever);
    engine.advance(Cycles(10));
    engine.tile_arrives(Cycles(13), {});
    CHECK(engine.earliest_start({}) == Cycles(17));
    CHECK(engine.next_event() == Cycles(17));
    engine.advance(Cycles(16));
    CHECK(engine.tiles_shifted() == 0);
    engine.advance(Cycles(17));
    CHECK(engine.tiles_shifted() == 1);
    CHECK(engine.earliest_start({}) == engine.now());
}

TEST_CASE("without a shadow register a kept tile stays until its last use has drained") {
    TileEngine engine({.rows = 4, .cols = 4, .shadow_register = false});
    engine.tile_arrives(Cycles(0), {});
    engine.tile_arrives(Cycles(0), {});
    CHECK(start_early(engine, {.vectors = 10, .last_use = false}) == 4);
    CHECK(start_early(engine, {.vectors = 10, .new_tile = false}) == 14);
    CHECK(start_early(engine, {.vectors = 1}) == 14 + 10 + 4 + 4 - 2 + 4);
}

TEST_CASE("a pass is finished only when a slow port is through with it, too") {
    TileEngine engine({.rows = 1, .cols = 1});
    engine.tile_arrives(Cycles(0), {});
    start_early(engine,
                {.vectors = 1, .cycles_per_vector = {5, 1}});  // in 1: done in 2, the port is free in 6
    engine.advance(Cycles(5));
    CHECK_FALSE(engine.take_finished());
    engine.advance(Cycles(6));
    CHECK(engine.take_finished()->times.done == Cycles(2));
}

TEST_CASE("the accumulator rule in closed form is that of checking vector by vector") {
    const std::uint64_t seed = 77;
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto draw = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    const auto rate = [&] {
        const std::int64_t den = draw(1, 40);
        return Rational{draw(den, 3 * den), den};
    };
    for (int n = 0; n < 2000; ++n) {
        const std::int64_t latency = draw(1, 300);
        TileEngine engine(
            {.rows = 1, .cols = 1, .accumulator_latency = Cycles(latency), .accumulator_rows = 700});
        std::vector<std::int64_t> fed(700, -1'000'000);
        Pass pass{.last_use = false};
        std::int64_t port_free = 1;  // after the only shift
        engine.tile_arrives(Cycles(0), {});
        for (int k = 0; k < 4; ++k) {
            pass.vectors = draw(1, 300);
            pass.cycles_per_vector = rate();
            pass.accumulator_row = draw(0, 400);
            const auto feed = [&](std::int64_t t) {
                return t * pass.cycles_per_vector.num / pass.cycles_per_vector.den;
            };
            std::int64_t expected = port_free;
            for (std::int64_t t = 0; pass.accumulate && t < pass.vectors; ++t)
                expected = std::max(expected, fed[pass.accumulator_row + t] + latency - feed(t));
            REQUIRE(start_early(engine, pass) == expected);
            for (std::int64_t t = 0; t < pass.vectors; ++t)
                fed[pass.accumulator_row + t] = expected + feed(t);
            port_free =
                expected + ceil_div(pass.vectors * pass.cycles_per_vector.num, pass.cycles_per_vector.den);
            pass.new_tile = false;
            pass.accumulate = draw(0, 3) > 0;
        }
    }
}

}  // namespace systole
