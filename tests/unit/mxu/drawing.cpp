// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/mxu/drawing.h"

#include <catch2/catch.hpp>
#include <functional>

#include "models/devices/systolic/mxu/grid_engine.h"

namespace systole::test {

namespace {

using State = PeState<std::int8_t, std::int32_t>;

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
    const auto engine = make_tile_engine(drawing.array);
    for (const DrawnPass& pass : drawing.passes)
        if (pass.pass.new_tile) engine->tile_arrives(pass.arrives, pass.tile);
    std::size_t next = 0;
    for (; engine->now() < at(40); engine->advance(engine->now() + at(1)))
        start_what_can(*engine, drawing, next, [&](const DrawnPass& pass) { engine->start(pass.pass); });
    check_reports(*engine, drawing);
}

bool outputs_stay(const Drawing& drawing) {
    return drawing.array.dataflow == Dataflow::OutputStationary;
}

void start(GridEngine& grid, const Drawing& drawing, const DrawnPass& pass) {
    Matrix<std::int8_t> left{pass.tile.rows, {}}, top;
    if (outputs_stay(drawing)) top.cols = pass.tile.cols;
    for (const char vector : pass.vectors) {
        const auto name = static_cast<std::int8_t>(vector);
        for (int row = 0; row < pass.tile.rows; ++row)
            left.values.push_back(outputs_stay(drawing) ? static_cast<std::int8_t>(row + 1) : name);
        top.values.insert(top.values.end(), top.cols, name);
    }
    grid.start(pass.pass, left, top);
}

/// What a PE did in the last cycle, given its state before.
std::string cell(const Drawing& drawing, const State& pe, const State& before) {
    const std::int8_t name = outputs_stay(drawing) ? pe.stationary : pe.moving;
    const char vector = !pe.valid ? '.' : name == 0 ? '0' : static_cast<char>(name);
    const char moved_in = pe.result != before.result ? 'r' : pe.shadow != before.shadow ? 'w' : '.';
    return {vector, moved_in};
}

void check_grid(const Drawing& drawing) {
    const auto grid = make_grid_engine(drawing.array);
    for (const DrawnPass& pass : drawing.passes)
        if (pass.pass.new_tile) grid->tile_arrives(pass.arrives, pass.tile, {pass.tile.cols, pass.values});
    const int rows = drawing.array.rows, cols = drawing.array.cols;
    std::vector<std::string> seen(rows * cols);
    std::vector<State> states(rows * cols);
    std::size_t next = 0;
    const Cycles end = drawing.passes.back().expected.times.done;
    while (grid->now() < end) {
        start_what_can(*grid, drawing, next, [&](const DrawnPass& pass) { start(*grid, drawing, pass); });
        grid->advance(grid->now() + at(1));
        for (int n = 0; n < rows * cols; ++n) {
            const State pe = grid->pe(n / cols, n % cols);
            if (!seen[n].empty()) seen[n] += ' ';
            seen[n] += cell(drawing, pe, states[n]);
            states[n] = pe;
        }
    }
    std::string all;
    for (const std::string& line : seen) all += line + "\n";
    CHECK(all == drawing.pes);
    check_reports(*grid, drawing);

    grid->advance(end + drawing.array.accumulator_latency);
    for (int n = 0; n < std::ssize(drawing.sums); ++n)
        CHECK(grid->accumulator(n / cols, n % cols) == drawing.sums[n]);
}

}  // namespace

void check_drawing(const Drawing& drawing) {
    check_tile_engine(drawing);
    check_grid(drawing);
}

}  // namespace systole::test
