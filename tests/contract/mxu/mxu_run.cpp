// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/mxu/mxu_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "models/devices/systolic/mxu/tile_engine.h"

namespace systole::test {

Outcome live(MatrixEngine& engine, const MxuCase& mxu_case, const Hands& hands) {
    const std::vector<Step>& steps = mxu_case.steps;
    Outcome outcome;
    std::size_t tile = 0, pass = 0;
    const auto skip_kept = [&] {
        while (tile < steps.size() && !steps[tile].pass.new_tile) ++tile;
    };
    while (true) {
        const Cycles now = engine.now();
        while (std::ssize(outcome.tiles_in) < engine.tiles_shifted()) outcome.tiles_in.push_back(now);
        while (const std::optional<PassReport> report = engine.take_finished())
            outcome.passes.push_back(*report);
        if (outcome.passes.size() == steps.size()) break;
        for (skip_kept(); tile < steps.size() && (mxu_case.arrivals_told_early || steps[tile].arrives <= now);
             skip_kept())
            hands.give_tile(tile++);

        Cycles next = engine.next_event();
        if (tile < steps.size()) next = std::min(next, steps[tile].arrives);
        if (pass < steps.size()) {
            Cycles can = steps[pass].ready;
            if (can <= now) can = engine.earliest_start(steps[pass].pass);
            if (can == now) {
                hands.start_pass(pass++);
                continue;  // ask everything again: the start has changed the engine
            }
            next = std::min(next, can);
        }
        if (next == kNever || next <= now) break;
        engine.advance(next);
    }
    outcome.end = engine.now();
    return outcome;
}

namespace {

template <class Operand>
Operand random_operand(ValueType type, std::mt19937_64& random) {
    if constexpr (std::is_same_v<Operand, std::int8_t>) {
        return static_cast<std::int8_t>(std::uniform_int_distribution<int>(-128, 127)(random));
    } else {
        const float size = std::ldexp(1.0F, std::uniform_int_distribution<int>(-12, 12)(random));
        const float value = std::uniform_real_distribution<float>(-size, size)(random);
        return type == ValueType::Bf16 ? round_to_bf16(value) : value;
    }
}

template <class Operand>
Matrix<Operand> random_matrix(std::int64_t rows, std::int64_t cols, ValueType type, std::mt19937_64& random) {
    Matrix<Operand> made{cols, std::vector<Operand>(rows * cols)};
    for (Operand& value : made.values) value = random_operand<Operand>(type, random);
    return made;
}

/// Operands of every step (a kept tile is copied), and the accumulators they must give.
template <class Arithmetic>
struct Values {
    using Operand = typename Arithmetic::Operand;
    using Sum = typename Arithmetic::Sum;
    std::vector<Matrix<Operand>> weights, activations;
    std::vector<Sum> accumulators;
};

/// One column sum, in the order that value_type.h states, written without it.
template <class Sum, class Operand>
Sum column_sum(const Matrix<Operand>& a, std::int64_t t, const Matrix<Operand>& w, int rows, int col) {
    Sum sum = 0;
    for (int i = 0; i < rows; ++i) {
        const Sum product =
            static_cast<Sum>(a.values[t * rows + i]) * static_cast<Sum>(w.values[i * w.cols + col]);
        sum = sum + product;
    }
    return sum;
}

template <class Arithmetic>
Values<Arithmetic> reference(const MxuCase& mxu_case) {
    using Operand = typename Arithmetic::Operand;
    using Sum = typename Arithmetic::Sum;
    std::mt19937_64 random(mxu_case.value_seed);
    const int width = mxu_case.array.cols;
    Values<Arithmetic> values;
    values.accumulators.resize(mxu_case.array.accumulator_rows * width);
    Tile tile;
    for (std::size_t n = 0; n < mxu_case.steps.size(); ++n) {
        const Step& step = mxu_case.steps[n];
        const Pass& pass = step.pass;
        if (pass.new_tile) tile = step.tile;
        values.weights.push_back(pass.new_tile
                                     ? random_matrix<Operand>(tile.rows, tile.cols, mxu_case.type, random)
                                     : values.weights.back());
        values.activations.push_back(random_matrix<Operand>(pass.vectors, tile.rows, mxu_case.type, random));
        for (std::int64_t t = 0; t < pass.vectors; ++t) {
            for (int col = 0; col < width; ++col) {
                Sum& target = values.accumulators[(pass.accumulator_row + t) * width + col];
                const Sum sum = col < tile.cols ? column_sum<Sum>(values.activations[n], t, values.weights[n],
                                                                  tile.rows, col)
                                                : Sum{};
                target = pass.accumulate ? target + sum : sum;
            }
        }
    }
    return values;
}

std::string to_string(const PassReport& report) {
    const PassTimes& times = report.times;
    return fmt::format("shift {}..{}, start {}, stream end {}, done {}, useful {}, padding {}",
                       times.shift_start.value(), times.shift_end.value(), times.start.value(),
                       times.stream_end.value(), times.done.value(), report.useful_slots,
                       report.padding_slots);
}

std::optional<std::string> difference(const Outcome& tile, const Outcome& grid, std::size_t steps) {
    if (tile.passes.size() < steps) return "the tile engine is stuck";
    if (grid.passes.size() < steps) return "the grid is stuck";
    for (std::size_t n = 0; n < steps; ++n) {
        if (tile.passes[n] == grid.passes[n]) continue;
        return fmt::format("pass {}\n  tile: {}\n  grid: {}", n, to_string(tile.passes[n]),
                           to_string(grid.passes[n]));
    }
    if (tile.tiles_in != grid.tiles_in) return "tiles were seen shifted in at different cycles";
    if (tile.end != grid.end) return "the engines ended in different cycles";
    return std::nullopt;
}

template <class Arithmetic>
std::optional<std::string> disagreement_in(const MxuCase& mxu_case) {
    const Values<Arithmetic> values = reference<Arithmetic>(mxu_case);
    const std::vector<Step>& steps = mxu_case.steps;
    TileEngine tile(mxu_case.array);
    const Outcome of_tile = live(
        tile, mxu_case,
        {[&](std::size_t n) { tile.tile_arrives(std::max(tile.now(), steps[n].arrives), steps[n].tile); },
         [&](std::size_t n) { tile.start(steps[n].pass); }});
    PeGrid<Arithmetic> grid(mxu_case.array);
    const Outcome of_grid =
        live(grid, mxu_case,
             {[&](std::size_t n) {
                  grid.tile_arrives(std::max(grid.now(), steps[n].arrives), steps[n].tile, values.weights[n]);
              },
              [&](std::size_t n) { grid.start(steps[n].pass, values.activations[n], {}); }});
    if (const auto found = difference(of_tile, of_grid, steps.size())) return found;

    const Cycles readable = of_grid.passes.back().times.done + mxu_case.array.accumulator_latency - Cycles(1);
    grid.advance(std::max(grid.now(), readable));
    for (std::int64_t row = 0; row < mxu_case.array.accumulator_rows; ++row) {
        for (int col = 0; col < mxu_case.array.cols; ++col) {
            const auto expected = values.accumulators[row * mxu_case.array.cols + col];
            const auto found = grid.accumulator(row, col);
            if (std::bit_cast<std::uint32_t>(expected) == std::bit_cast<std::uint32_t>(found)) continue;
            return fmt::format("accumulator row {} column {}: {} instead of {}", row, col, found, expected);
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> disagreement(const MxuCase& mxu_case) {
    return mxu_case.type == ValueType::Int8 ? disagreement_in<Int8Arithmetic>(mxu_case)
                                            : disagreement_in<Float32Arithmetic>(mxu_case);
}

}  // namespace systole::test
