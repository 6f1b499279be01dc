// SPDX-License-Identifier: Apache-2.0
// An array that is set up for one dataflow after another, its times worked out by hand.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>

#include "models/devices/systolic/mxu/grid_engine.h"
#include "tests/unit/mxu/steps.h"

namespace systole {

using test::finish_next;

namespace {

constexpr ArraySpec kArray{.rows = 3,
                           .cols = 2,
                           .accumulator_latency = Cycles(4),
                           .accumulator_rows = 64,
                           .reconfigurable = true,
                           .dataflow_switch = Cycles(10)};

/// On both engines.
void on_each(const ArraySpec& array, const std::function<void(MatrixEngine&)>& check) {
    check(*make_tile_engine(array));
    check(*make_grid_engine(array));
}

/// Starts `pass` as early as the engine allows and gives the cycle; the grid answers cycle by cycle.
std::int64_t start_early(MatrixEngine& engine, const Pass& pass) {
    while (engine.earliest_start(pass) != engine.now()) engine.advance(engine.earliest_start(pass));
    engine.start(pass);
    return engine.now().value();
}

/// Lets time pass until the array has run dry.
std::int64_t run_dry(MatrixEngine& engine) {
    while (engine.dry() != engine.now()) engine.advance(engine.dry());
    return engine.now().value();
}

}  // namespace

TEST_CASE("an array that has run dry takes a pass of another dataflow once it is set up for that") {
    on_each(kArray, [](MatrixEngine& engine) {
        engine.tile_arrives(Cycles(0), {3, 2});
        CHECK(start_early(engine, {.vectors = 4}) == 3);
        CHECK(finish_next(engine).times.done == Cycles(10));  // 2R + C + T - 2
        // Its last sum is issued in cycle 9, and can be read four cycles later.
        CHECK(run_dry(engine) == 13);

        engine.set_up(Dataflow::OutputStationary);
        engine.tile_arrives(engine.now(), {3, 2});
        CHECK(start_early(engine, {.vectors = 2}) == 23);
        CHECK(finish_next(engine).times.done == Cycles(31));  // T + 2R + C - 2 later
        CHECK(run_dry(engine) == 34);

        engine.set_up(Dataflow::InputStationary);
        engine.tile_arrives(engine.now(), {1, 1});
        CHECK(start_early(engine, {.vectors = 1, .accumulate = true}) == 47);
        const PassTimes times = finish_next(engine).times;
        CHECK(times.shift_start == Cycles(44));
        CHECK(times.shift_end == Cycles(47));
        CHECK(engine.tiles_shifted() == 3);
    });
}

TEST_CASE("an array does not run dry while it holds a tile that a pass is still to use") {
    on_each(kArray, [](MatrixEngine& engine) {
        CHECK(engine.dry() == Cycles(0));
        engine.tile_arrives(Cycles(5), {3, 2});
        CHECK(engine.dry() == kNever);  // told
        engine.advance(Cycles(20));
        CHECK(engine.dry() == kNever);  // in the register
        engine.start({.vectors = 1, .last_use = false});
        engine.advance(Cycles(60));
        CHECK(engine.dry() == kNever);  // kept
        engine.start({.vectors = 1, .new_tile = false});
        engine.tile_arrives(engine.now(), {3, 2});
        CHECK(engine.dry() == kNever);  // the next one
    });
}

TEST_CASE("outputs over a bus have left when the tile's own last row has, and the wave has gone by") {
    // f = 1; row 1 of column 1 leaves in f + 1 + 1 = 3 and can be read from 7; PE(2,1) multiplies in 4.
    ArraySpec array = kArray;
    array.dataflow = Dataflow::OutputStationary;
    array.result_shift = false;
    on_each(array, [](MatrixEngine& engine) {
        engine.tile_arrives(Cycles(0), {2, 2});
        CHECK(start_early(engine, {.vectors = 2}) == 0);
        CHECK(run_dry(engine) == 7);
    });
    array.accumulator_latency = Cycles(1);
    on_each(array, [](MatrixEngine& engine) {
        engine.tile_arrives(Cycles(0), {1, 2});
        CHECK(start_early(engine, {.vectors = 2}) == 0);
        CHECK(run_dry(engine) == 5);
    });
}

TEST_CASE("an array can be set up anew while it is set up, and without a cycle") {
    ArraySpec array = kArray;
    on_each(array, [](MatrixEngine& engine) {
        engine.set_up(Dataflow::OutputStationary);
        CHECK(run_dry(engine) == 10);
        engine.set_up(Dataflow::WeightStationary);
        engine.tile_arrives(engine.now(), {3, 2});
        CHECK(start_early(engine, {.vectors = 1}) == 23);
    });
    array.dataflow_switch = Cycles(0);
    on_each(array, [](MatrixEngine& engine) {
        engine.set_up(Dataflow::OutputStationary);
        engine.tile_arrives(engine.now(), {3, 2});
        CHECK(start_early(engine, {.vectors = 1}) == 0);
    });
}

}  // namespace systole
