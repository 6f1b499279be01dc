// SPDX-License-Identifier: Apache-2.0
// The shifting parts of the PE grids, each alone, against moving every register.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <optional>
#include <random>
#include <vector>

#include "models/devices/systolic/mxu/column_runs.h"
#include "models/devices/systolic/mxu/grid_engine.h"
#include "models/devices/systolic/mxu/shift_registers.h"

namespace systole {

TEST_CASE("rows of registers hand every value to the right, and out of the last column") {
    for (const int cols : {1, 2, 5}) {
        RowShift<int> shift(2, cols);
        std::vector<std::vector<int>> expected(2, std::vector<int>(cols));
        for (int clock = 1; clock <= 17; ++clock) {
            const std::vector<int> edge{clock, 100 + clock};
            for (int row = 0; row < 2; ++row) expected[row].insert(expected[row].begin(), edge[row]);
            shift.clock(edge, [&](std::size_t row, int left) { CHECK(left == expected[row].back()); });
            for (int row = 0; row < 2; ++row) {
                expected[row].pop_back();
                CHECK(std::vector<int>(shift.row(row), shift.row(row) + cols) == expected[row]);
            }
        }
    }
}

TEST_CASE("columns of registers hand every row down, and the last one to the top to be overwritten") {
    for (const int rows : {1, 2, 5}) {
        ColumnShift<int> shift(rows, 3);
        std::vector<std::array<int, 3>> expected(rows);
        for (int clock = 1; clock <= 17; ++clock) {
            shift.clock();
            const std::array<int, 3> entered{clock, -clock, 7};
            std::copy(entered.begin(), entered.end(), shift.row(0));
            expected.insert(expected.begin(), entered);
            expected.pop_back();
            for (int row = 0; row < rows; ++row)
                CHECK(std::equal(expected[row].begin(), expected[row].end(), shift.row(row)));
        }
        shift.clear_row(rows - 1);
        CHECK(shift.row(rows - 1)[1] == 0);
    }
}

TEST_CASE("flags and marks travel right, are found where they are, and leave their row empty again") {
    const std::uint64_t seed = 9;
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    FlagShift flags(1, 6);
    MarkShift marks(1, 6);
    std::vector<std::uint8_t> expected(6);
    for (int clock = 0; clock < 300; ++clock) {
        const std::vector<std::uint8_t> edge{clock < 280 && random() % 4 == 0};
        flags.clock(edge);
        marks.clock(edge);
        expected.insert(expected.begin(), edge[0]);
        expected.pop_back();
        std::vector<std::uint8_t> found(6);
        marks.for_each(0, [&](int col) { found[col] = 1; });
        REQUIRE(found == expected);
        REQUIRE(std::equal(expected.begin(), expected.end(), flags.row(0)));
        REQUIRE(flags.any(0) == (std::count(expected.begin(), expected.end(), 1) > 0));
        REQUIRE(flags.any() == flags.any(0));
    }
}

TEST_CASE("columns one step apart are one run, and its columns from a step on are those that compare so") {
    // Two shifts of 4 steps under way in 7 columns, then one column in which a shift alone begins.
    const std::vector<std::int32_t> steps{2, 1, 0, 3, 2, kNoStep, kNoStep, 0};
    std::vector<ColumnRun> runs;
    find_runs(steps, runs);
    REQUIRE(runs.size() == 3);
    for (std::int32_t least = 0; least <= 4; ++least) {
        std::vector<bool> found(steps.size());
        for (const ColumnRun& run : runs)
            for (int col = run.first; col < run.end_from(least); ++col) found[col] = true;
        for (std::size_t col = 0; col < steps.size(); ++col) CHECK(found[col] == (steps[col] >= least));
    }
}

TEST_CASE("instruments count every slot of arrays taller than a byte can count") {
    for (const Dataflow dataflow : {Dataflow::WeightStationary, Dataflow::OutputStationary}) {
        for (const int rows : {254, 255, 256, 510, 511}) {
            const auto grid = make_grid_engine({.rows = rows, .cols = 2, .dataflow = dataflow});
            grid->tile_arrives(grid->now(), Tile{rows - 1, 1});
            const Pass pass{.vectors = 3};
            while (grid->earliest_start(pass) != grid->now()) grid->advance(grid->earliest_start(pass));
            grid->start(pass);
            std::optional<PassReport> report;
            while (!(report = grid->take_finished())) grid->advance(grid->next_event());
            CHECK(report->useful_slots == 3 * (rows - 1));
            CHECK(report->padding_slots == 3 * (rows + 1));
        }
    }
}

}  // namespace systole
