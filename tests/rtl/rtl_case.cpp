// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/rtl_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace systole::test {

namespace {

constexpr int kMaxSide = 8;
constexpr std::int64_t kMaxVectors = 12;
constexpr std::int64_t kAccumulatorRows = 24;

using Random = std::mt19937_64;

std::int64_t draw(Random& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

bool chance(Random& random, int percent) {
    return draw(random, 1, 100) <= percent;
}

Matrix<std::int8_t> random_matrix(Random& random, std::int64_t rows, std::int64_t cols) {
    Matrix<std::int8_t> made{cols, {}};
    for (std::int64_t n = 0; n < rows * cols; ++n)
        made.values.push_back(static_cast<std::int8_t>(draw(random, -128, 127)));
    return made;
}

/// Passes follow each other so closely onto the same accumulators that most wait for the latency.
bool latency_binds(std::uint64_t index) {
    return index % 3 == 0;
}

ArraySpec random_array(Random& random, Dataflow dataflow, std::uint64_t index) {
    ArraySpec array;
    array.dataflow = dataflow;
    const int least = index % 5 == 4 ? 1 : 2;
    array.rows = static_cast<int>(draw(random, least, kMaxSide));
    do array.cols = static_cast<int>(draw(random, least, kMaxSide));
    while (array.cols == array.rows);
    array.shadow_register = index % 2 == 0;
    array.result_shift = index % 4 < 2;
    array.accumulator_latency = Cycles(latency_binds(index) ? draw(random, 16, 24) : draw(random, 1, 3));
    array.accumulator_rows = kAccumulatorRows;
    return array;
}

Rational random_rate(Random& random) {
    const std::int64_t den = draw(random, 1, 5);
    return {draw(random, den + 1, 3 * den), den};
}

Tile random_tile(Random& random, const ArraySpec& array) {
    const bool whole = chance(random, 40);
    return {whole ? array.rows : static_cast<int>(draw(random, 1, array.rows)),
            whole ? array.cols : static_cast<int>(draw(random, 1, array.cols))};
}

RtlStep random_step(Random& random, const ArraySpec& array, std::uint64_t index, const RtlStep* before) {
    RtlStep step;
    Pass& pass = step.pass;
    const bool second = before != nullptr;
    pass.new_tile = !second || before->pass.last_use;
    step.tile = pass.new_tile ? random_tile(random, array) : before->tile;
    pass.last_use = latency_binds(index) || !(chance(random, 25) || (!second && index % 5 == 2));
    pass.vectors = draw(random, 1, chance(random, 40) ? array.rows : kMaxVectors);
    if (chance(random, 25) || (!second && index % 3 == 1)) pass.cycles_per_vector = random_rate(random);
    pass.accumulate = second && (chance(random, 30) || latency_binds(index));
    const std::int64_t span = std::max<std::int64_t>(pass.vectors, array.rows);
    const std::int64_t highest = kAccumulatorRows - span;
    pass.accumulator_row =
        pass.accumulate ? std::min(before->pass.accumulator_row, highest) : draw(random, 0, highest);

    const bool late = index % 4 == 2 || index % 4 == 3;
    step.arrives = (second ? before->arrives : Cycles(0)) + Cycles(late ? draw(random, 0, 30) : 0);
    step.ready = Cycles(!latency_binds(index) && chance(random, 30) ? draw(random, 0, 60) : 0);

    const bool shifted = array.dataflow != Dataflow::OutputStationary;
    if (shifted)
        step.stationary =
            pass.new_tile ? random_matrix(random, step.tile.rows, step.tile.cols) : before->stationary;
    step.left = random_matrix(random, pass.vectors, step.tile.rows);
    if (!shifted) step.top = random_matrix(random, pass.vectors, step.tile.cols);
    return step;
}

}  // namespace

RtlCase random_rtl_case(Dataflow dataflow, std::uint64_t seed, std::uint64_t index) {
    Random random(3 * (seed + index) + static_cast<std::uint64_t>(dataflow));
    RtlCase made;
    made.name = fmt::format("{}_{}", to_string(dataflow), seed + index);
    made.array = random_array(random, dataflow, index);
    const std::int64_t passes = draw(random, 2, 4);
    for (std::int64_t n = 0; n < passes; ++n)
        made.steps.push_back(
            random_step(random, made.array, index, made.steps.empty() ? nullptr : &made.steps.back()));
    made.steps.back().pass.last_use = true;
    return made;
}

}  // namespace systole::test
