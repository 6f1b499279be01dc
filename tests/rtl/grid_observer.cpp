// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/grid_observer.h"

#include <fmt/format.h>

#include "models/devices/systolic/mxu/grid_engine.h"
#include "sim/base/check.h"

namespace systole::test {

namespace {

/// No case lasts as long; a grid that does is stuck.
constexpr Cycles kTooLong{10'000};

void note_edges(const GridEngine& grid, int cols, std::vector<std::string>& lines) {
    for (int col = 0; col < cols; ++col)
        if (const auto sum = grid.issued(col))
            lines.push_back(fmt::format("out {} {} {} {}", grid.now().value() - 1, col, sum->row, sum->sum));
}

void note_pass(const PassTimes& times, bool shifts, std::vector<std::string>& lines) {
    if (shifts) lines.push_back(fmt::format("shift {}", times.shift_start.value()));
    lines.push_back(fmt::format("start {}", times.start.value()));
    lines.push_back(fmt::format("done {}", times.done.value()));
}

void note_accumulators(const GridEngine& grid, const ArraySpec& array, std::vector<std::string>& lines) {
    for (std::int64_t row = 0; row < array.accumulator_rows; ++row)
        for (int col = 0; col < array.cols; ++col)
            lines.push_back(fmt::format("accumulator {} {} {}", row, col, grid.accumulator(row, col)));
}

/// A tile moves into the array with its first pass; results move out of it with its last.
bool shifts(const ArraySpec& array, const Pass& pass) {
    if (array.dataflow == Dataflow::OutputStationary) return array.result_shift && pass.last_use;
    return pass.new_tile;
}

}  // namespace

Observation observe_grid(const RtlCase& rtl_case) {
    const ArraySpec& array = rtl_case.array;
    const auto grid = make_grid_engine(array);
    for (const RtlStep& step : rtl_case.steps)
        if (step.pass.new_tile) grid->tile_arrives(step.arrives, step.tile, step.stationary);

    Observation seen;
    std::size_t finished = 0;
    const auto one_cycle = [&] {
        grid->advance(grid->now() + Cycles(1));
        note_edges(*grid, array.cols, seen.lines);
    };
    while (finished < rtl_case.steps.size()) {
        if (seen.starts.size() < rtl_case.steps.size()) {
            const RtlStep& next = rtl_case.steps[seen.starts.size()];
            if (next.ready <= grid->now() && grid->earliest_start(next.pass) == grid->now()) {
                grid->start(next.pass, next.left, next.top);
                seen.starts.push_back(grid->now());
            }
        }
        one_cycle();
        while (const auto report = grid->take_finished())
            note_pass(report->times, shifts(array, rtl_case.steps[finished++].pass), seen.lines);
        SYSTOLE_CHECK(grid->now() < kTooLong, "the grid is stuck in case {}", rtl_case.name);
    }
    // Longer than anything can take to leave the array or to reach its accumulator.
    seen.end = grid->now() + Cycles(4 * (array.rows + array.cols)) + array.accumulator_latency;
    while (grid->now() < seen.end) one_cycle();
    note_accumulators(*grid, array, seen.lines);
    return seen;
}

}  // namespace systole::test
