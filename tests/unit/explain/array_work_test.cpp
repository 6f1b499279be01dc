// SPDX-License-Identifier: Apache-2.0
// Programs as arrays see them, of each dataflow: counted by hand.
#include "models/devices/systolic/explain/array_work.h"

#include <catch2/catch.hpp>

namespace systole::systolic {
namespace {

SystolicSpec array_4x4(Dataflow dataflow, MacRate rate = {1}) {
    SystolicSpec spec;
    MxuSpec& mxu = spec.mxu;
    mxu.count = 2;
    mxu.rows = mxu.cols = 4;
    mxu.dataflow = dataflow;
    mxu.accumulator_rows = 64;
    mxu.accumulator_latency = Cycles(1);
    mxu.rate[static_cast<std::size_t>(DType::Int8)] = rate;
    return spec;
}

/// Passes of one unit, each an own command.
Program program_of(Dataflow dataflow, const std::vector<MatrixPass>& passes) {
    Program program;
    program.dataflow = dataflow;
    program.layers.push_back({"fc", "matmul", "", 0, 0, DType::Int8});
    for (const MatrixPass& pass : passes) {
        program.commands.push_back(
            {unit_index(UnitKind::Matrix, 1), 0, 0, static_cast<std::uint32_t>(program.passes.size()), 0});
        program.passes.push_back(pass);
    }
    return program;
}

MatrixPass pass_of(std::int64_t m, std::int64_t n, std::int64_t k) {
    MatrixPass pass;
    pass.m = m;
    pass.n = n;
    pass.k = k;
    pass.dtype = DType::Int8;
    return pass;
}

}  // namespace

TEST_CASE("m, n and k of a pass lie on the array as the dataflow says") {
    struct Expected {
        Dataflow dataflow;
        Tile tile;
        std::int64_t vectors;
    };
    for (const auto& [dataflow, tile, vectors] :
         {Expected{Dataflow::WeightStationary, {3, 2}, 4}, Expected{Dataflow::OutputStationary, {4, 2}, 3},
          Expected{Dataflow::InputStationary, {3, 4}, 2}}) {
        const ArrayWork work = array_work(program_of(dataflow, {pass_of(4, 2, 3)}), array_4x4(dataflow));
        INFO(to_string(dataflow));
        CHECK(work.typical().tile.rows == tile.rows);
        CHECK(work.typical().tile.cols == tile.cols);
        CHECK(work.typical().vectors == vectors);
        CHECK(work.slots() == vectors * 16);
        CHECK(work.useful_slots == 24);
        CHECK(work.row_slots == vectors * tile.rows * 4);
        CHECK(work.column_slots == 24);
        CHECK(work.busy_units() == 1);
        CHECK(work.passes() == 1);
        CHECK_FALSE(work.from_fifo);
    }
}

TEST_CASE("a rate above 1 takes more of K a row, or streams it in less time") {
    const auto work = [](Dataflow dataflow) {
        return array_work(program_of(dataflow, {pass_of(2, 2, 7)}), array_4x4(dataflow, {2}));
    };
    CHECK(work(Dataflow::WeightStationary).typical().tile.rows == 4);
    CHECK(work(Dataflow::WeightStationary).slots() == 2 * 16 * 2);
    CHECK(work(Dataflow::OutputStationary).typical().vectors == 4);
    CHECK(work(Dataflow::OutputStationary).slots() == 4 * 16 * 2);
    CHECK(work(Dataflow::OutputStationary).row_slots == 4 * 2 * 2 * 4);
    CHECK(work(Dataflow::OutputStationary).column_slots == 4 * 2 * 2 * 2);
    CHECK(work(Dataflow::OutputStationary).useful_slots == 2 * 2 * 7);
    CHECK(work(Dataflow::InputStationary).row_slots == 2 * 7 * 4);
    CHECK(work(Dataflow::InputStationary).column_slots == 2 * 2 * 7);
}

TEST_CASE("a run of folds is as many passes, the first as it is and the others adding") {
    MatrixPass run = pass_of(5, 3, 4);
    run.folds = 3;
    run.origin.k0 = 8;
    const ArrayWork work =
        array_work(program_of(Dataflow::WeightStationary, {run}), array_4x4(Dataflow::WeightStationary));
    REQUIRE(work.units[1].size() == 3);
    CHECK_FALSE(work.units[1][0].accumulate);
    CHECK(work.units[1][1].accumulate);
    CHECK(work.units[1][2].new_tile);
    CHECK(work.tiles == 3);
    CHECK(work.vectors == 15);
    CHECK(work.useful_slots == 5 * 3 * 12);
    CHECK(work.cut(Extent::K).pieces() == 3);
    CHECK(work.cut(Extent::K).extent() == 20);
}

TEST_CASE("a tile that is kept is not used for the last time") {
    MatrixPass first = pass_of(5, 3, 4), second = pass_of(2, 3, 4);
    second.new_tile = false;
    second.origin.m0 = 5;
    const ArrayWork work = array_work(program_of(Dataflow::WeightStationary, {first, second}),
                                      array_4x4(Dataflow::WeightStationary));
    CHECK_FALSE(work.units[1][0].last_use);
    CHECK(work.units[1][1].last_use);
    CHECK(work.tiles == 1);
    CHECK(work.cut(Extent::M).extent() == 7);
    CHECK(work.cut(Extent::M).text() == "1 of 5, 1 of 2");
}

TEST_CASE("cuts name three lengths at most") {
    Cut cut;
    std::int64_t at = 0;
    for (const std::int64_t length : {1'000, 900, 900, 800, 700, 600}) {
        cut.add(at, length);
        at += length;
    }
    cut.add(0, 1'000);
    CHECK(cut.pieces() == 6);
    CHECK(cut.extent() == 4'900);
    CHECK(cut.text() == "1 of 1,000, 2 of 900, 1 of 800, 2 shorter");
}

}  // namespace systole::systolic
