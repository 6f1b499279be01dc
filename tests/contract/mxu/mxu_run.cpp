// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/mxu/mxu_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "models/devices/systolic/mxu/grid_engine.h"
#include "tests/contract/mxu/mxu_values.h"

namespace systole::test {

Outcome live(MatrixEngine& engine, const MxuCase& mxu_case, const Hands& hands) {
    const std::vector<Step>& steps = mxu_case.steps;
    Outcome outcome;
    std::size_t tile = 0, pass = 0;
    Dataflow dataflow = mxu_case.array.dataflow;
    const auto skip_kept = [&] {
        while (tile < steps.size() && !steps[tile].pass.new_tile) ++tile;
    };
    while (true) {
        const Cycles now = engine.now();
        while (std::ssize(outcome.tiles_in) < engine.tiles_shifted()) outcome.tiles_in.push_back(now);
        while (const std::optional<PassReport> report = engine.take_finished())
            outcome.passes.push_back(*report);
        if (outcome.passes.size() == steps.size()) break;
        if (pass < steps.size() && steps[pass].dataflow != dataflow && engine.dry() == now) {
            dataflow = steps[pass].dataflow;
            engine.set_up(dataflow);
        }
        const auto comes = [&] {
            return steps[tile].dataflow == dataflow &&
                   (mxu_case.arrivals_told_early || steps[tile].arrives <= now);
        };
        for (skip_kept(); tile < steps.size() && comes(); skip_kept()) hands.give_tile(tile++);

        Cycles next = engine.next_event();
        if (tile < steps.size() && steps[tile].dataflow == dataflow)
            next = std::min(next, steps[tile].arrives);
        if (pass < steps.size() && steps[pass].dataflow != dataflow) {
            next = std::min(next, engine.dry());
        } else if (pass < steps.size()) {
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

template <class Operand, class Sum>
std::optional<std::string> wrong_sum(const BasicGridEngine<Operand, Sum>& grid,
                                     const std::vector<Sum>& expected, const ArraySpec& array) {
    for (std::int64_t row = 0; row < array.accumulator_rows; ++row) {
        for (int col = 0; col < array.cols; ++col) {
            const Sum right = expected[row * array.cols + col];
            const Sum found = grid.accumulator(row, col);
            if (std::bit_cast<std::uint32_t>(right) == std::bit_cast<std::uint32_t>(found)) continue;
            return fmt::format("accumulator row {} column {}: {} instead of {}", row, col, found, right);
        }
    }
    return std::nullopt;
}

template <class Operand, class Sum>
std::optional<std::string> disagreement_in(BasicGridEngine<Operand, Sum>& grid, const MxuCase& mxu_case) {
    const CaseValues<Operand, Sum> values = values_of<Operand, Sum>(mxu_case);
    const std::vector<Step>& steps = mxu_case.steps;
    const auto tile = make_tile_engine(mxu_case.array);
    const Outcome of_tile = live(
        *tile, mxu_case,
        {[&](std::size_t n) { tile->tile_arrives(std::max(tile->now(), steps[n].arrives), steps[n].tile); },
         [&](std::size_t n) { tile->start(steps[n].pass); }});
    const Outcome of_grid =
        live(grid, mxu_case,
             {[&](std::size_t n) {
                  grid.tile_arrives(std::max(grid.now(), steps[n].arrives), steps[n].tile, values.tile[n]);
              },
              [&](std::size_t n) { grid.start(steps[n].pass, values.left[n], values.top[n]); }});
    if (const auto found = difference(of_tile, of_grid, steps.size())) return found;

    const Cycles readable = of_grid.passes.back().times.done + mxu_case.array.accumulator_latency - Cycles(1);
    grid.advance(std::max(grid.now(), readable));
    return wrong_sum(grid, values.accumulators, mxu_case.array);
}

}  // namespace

std::optional<std::string> disagreement(const MxuCase& mxu_case) {
    if (mxu_case.type == ValueType::Int8) return disagreement_in(*make_grid_engine(mxu_case.array), mxu_case);
    return disagreement_in(*make_float_grid_engine(mxu_case.array), mxu_case);
}

}  // namespace systole::test
