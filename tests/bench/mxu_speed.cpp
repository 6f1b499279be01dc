// SPDX-License-Identifier: Apache-2.0
// How fast the two engines of a matrix unit simulate in every dataflow: PE-cycles per second of the grid
// (128 x 128, bf16, passes back to back onto the same accumulator rows), nanoseconds per pass of the tile
// engine, and the ratio of the two; the best of several repetitions. Not a test: it only prints.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "models/devices/systolic/mxu/grid_engine.h"
#include "models/devices/systolic/mxu/value_type.h"

namespace {

using namespace systole;

constexpr int kRepetitions = 5;
constexpr int kGridPasses = 20, kTilePasses = 1'000'000;

ArraySpec array_of(Dataflow dataflow) {
    return {.rows = 128,
            .cols = 128,
            .dataflow = dataflow,
            .accumulator_latency = Cycles(8),
            .accumulator_rows = 2048};
}

double best_seconds_of(const auto& work) {
    double best = 1e9;
    for (int n = 0; n < kRepetitions; ++n) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        best = std::min(best, took.count());
    }
    return best;
}

Matrix<float> random_bf16(std::int64_t rows, std::int64_t cols) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    Matrix<float> made{cols, std::vector<float>(rows * cols)};
    for (float& value : made.values) value = round_to_bf16(uniform(random));
    return made;
}

/// `passes` passes, each with a new tile, as early as the engine allows.
void stream(MatrixEngine& engine, const Pass& pass, int passes, const auto& give_tile, const auto& start) {
    give_tile();
    for (int n = 0; n < passes; ++n) {
        if (n + 1 < passes) give_tile();
        for (Cycles next; (next = engine.earliest_start(pass)) != engine.now();) engine.advance(next);
        start();
        while (engine.take_finished()) {
        }
    }
    while (engine.next_event() != kNever) {
        engine.advance(engine.next_event());
        while (engine.take_finished()) {
        }
    }
}

double grid_seconds_per_pass(const ArraySpec& array, const Pass& pass) {
    const Tile tile{array.rows, array.cols};
    const bool outputs_stay = array.dataflow == Dataflow::OutputStationary;
    const Matrix<float> moving = random_bf16(pass.vectors, tile.rows);
    const Matrix<float> shifted = outputs_stay ? Matrix<float>{} : random_bf16(tile.rows, tile.cols);
    const Matrix<float> falling = outputs_stay ? random_bf16(pass.vectors, tile.cols) : Matrix<float>{};
    std::int64_t cycles = 0;
    const double seconds = best_seconds_of([&] {
        const auto grid = make_float_grid_engine(array);
        stream(
            *grid, pass, kGridPasses, [&] { grid->tile_arrives(grid->now(), tile, shifted); },
            [&] { grid->start(pass, moving, falling); });
        cycles = grid->now().value();
    });
    const double pes = double{1} * array.rows * array.cols;
    fmt::print("{}, T = {:4}: PE grid {:.0f} M PE-cycles/s over {} cycles", to_string(array.dataflow),
               pass.vectors, pes * static_cast<double>(cycles) / seconds / 1e6, cycles);
    return seconds / kGridPasses;
}

double tile_seconds_per_pass(const ArraySpec& array, const Pass& pass) {
    const double seconds = best_seconds_of([&] {
        const auto engine = make_tile_engine(array);
        stream(
            *engine, pass, kTilePasses,
            [&] {
                engine->tile_arrives(engine->now(), {array.rows, array.cols});
            },
            [&] { engine->start(pass); });
    });
    fmt::print("; tile engine {:.0f} ns a pass", seconds / kTilePasses * 1e9);
    return seconds / kTilePasses;
}

}  // namespace

int main() {
    for (const Dataflow dataflow :
         {Dataflow::WeightStationary, Dataflow::OutputStationary, Dataflow::InputStationary}) {
        for (const std::int64_t vectors : {1, 128, 1024}) {
            const ArraySpec array = array_of(dataflow);
            const Pass pass{.vectors = vectors, .accumulate = true};
            const double grid = grid_seconds_per_pass(array, pass);
            fmt::print(", {:.0f} times as fast\n", grid / tile_seconds_per_pass(array, pass));
        }
    }
}
