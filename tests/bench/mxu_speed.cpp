// SPDX-License-Identifier: Apache-2.0
// How fast the two engines of a matrix unit simulate: PE-cycles per second of the grid (128 x 128, bf16,
// passes back to back), nanoseconds per pass of the tile engine, and the ratio of the two. Not a test: it
// only prints.
#include <fmt/format.h>

#include <chrono>
#include <random>

#include "models/devices/systolic/mxu/pe_grid.h"
#include "models/devices/systolic/mxu/tile_engine.h"

namespace {

using namespace systole;

constexpr ArraySpec kArray{
    .rows = 128, .cols = 128, .accumulator_latency = Cycles(8), .accumulator_rows = 2048};

double seconds_of(const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Matrix<float> random_bf16(std::int64_t rows, std::int64_t cols) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    Matrix<float> made{cols, std::vector<float>(rows * cols)};
    for (float& value : made.values) value = round_to_bf16(uniform(random));
    return made;
}

/// `passes` passes onto the same accumulator rows, each with new weights, as early as the engine allows.
template <class Engine>
void stream(Engine& engine, const Pass& pass, int passes, const auto& give_tile, const auto& start) {
    give_tile();
    for (int n = 0; n < passes; ++n) {
        if (n + 1 < passes) give_tile();
        for (Cycles next; (next = engine.earliest_start(pass)) != engine.now();) engine.advance(next);
        start();
        while (engine.take_finished()) {
        }
    }
    while (!engine.take_finished()) engine.advance(engine.next_event());
}

double grid_seconds_per_pass(const Pass& pass, int passes) {
    PeGrid<Float32Arithmetic> grid(kArray);
    const Tile tile{kArray.rows, kArray.cols};
    const Matrix<float> weights = random_bf16(tile.rows, tile.cols);
    const Matrix<float> activations = random_bf16(pass.vectors, tile.rows);
    const double seconds = seconds_of([&] {
        stream(
            grid, pass, passes, [&] { grid.tile_arrives(grid.now(), tile, weights); },
            [&] { grid.start(pass, activations, {}); });
    });
    const double pes = double{kArray.rows} * kArray.cols;
    fmt::print("PE grid, T = {}: {:.0f} M PE-cycles/s over {} cycles\n", pass.vectors,
               pes * static_cast<double>(grid.now().value()) / seconds / 1e6, grid.now().value());
    return seconds / passes;
}

double tile_seconds_per_pass(const Pass& pass, int passes) {
    TileEngine engine(kArray);
    const Tile tile{kArray.rows, kArray.cols};
    const double seconds = seconds_of([&] {
        stream(
            engine, pass, passes, [&] { engine.tile_arrives(engine.now(), tile); },
            [&] { engine.start(pass); });
    });
    fmt::print("tile engine, T = {}: {:.0f} ns a pass\n", pass.vectors, seconds / passes * 1e9);
    return seconds / passes;
}

}  // namespace

int main() {
    for (const std::int64_t vectors : {1, 128, 1024}) {
        const Pass pass{.vectors = vectors, .accumulate = true};
        const double grid = grid_seconds_per_pass(pass, 20);
        fmt::print("  {:.0f} times the tile engine's time\n\n",
                   grid / tile_seconds_per_pass(pass, 1'000'000));
    }
}
